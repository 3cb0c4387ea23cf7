// Windows over planes: largest elements, means, the windows themselves, and the gradients of these. A thread for each place of the result, in
// several planes.
//
// What is computed is said by V_MAX (the largest), V_AT (where it stands), V_MAXGRAD, V_PICK (what stands there in another operand), V_MEAN,
// V_MEANGRAD, V_UNFOLD or V_FOLD. Gradients are asked for by the inputs, of all windows that hold them, in the order of these.
#include "pool.cuh"

#if V_MEAN || V_MEANGRAD
__device__ __forceinline__ i64 divisor(const Pool& p, const Axis& a, u32 o) {
    return p.adaptive || p.share == 1 ? window(p, a, o).count : places(a, o);
}
__device__ __forceinline__ i64 divisor(const Pool& p, u32 oz, u32 oy, u32 ox) {
    if (p.share == 2) return p.number;
    return divisor(p, p.axis[0], oz) * divisor(p, p.axis[1], oy) * divisor(p, p.axis[2], ox);
}
#endif

#if V_MAXGRAD
// Whether the element at `at`, which is one of the largest of a window, is the one that the gradient goes to.
__device__ __forceinline__ bool chosen(const Pool& p, const T* x, const Window (&w)[3], i32 at, W value) {
    bool nan = value != value;
    for (i32 z = 0; z < w[0].count; z++)
        for (i32 y = 0; y < w[1].count; y++) {
            i32 line = linear(p, w[0].first + z * w[0].step, w[1].first + y * w[1].step, w[2].first);
            for (i32 k = 0; k < w[2].count; k++, line += w[2].step) {
                if (!nan && line >= at) return true;
                W v = widen(x[line]);
                if (nan ? line > at && v != v : v == value) return false;
            }
        }
    return true;
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Pool p) {
    u64 index = (u64)blockIdx.x * THREADS + threadIdx.x;
#if V_MEAN
    if (p.together) index /= 32;
#endif
    if (index >= p.count) return;
#if V_MAXGRAD || V_MEANGRAD || V_FOLD
    const u64 part = p.inputs;
#elif V_UNFOLD
    const u64 part = p.places * p.outputs;
#else
    const u64 part = p.outputs;
#endif
    u64 group;
    u32 at;
    if (p.wide) {
        group = index / part;
        at = (u32)(index - group * part);
    } else {
        u32 n = p.part.divide((u32)index);
        group = n;
        at = (u32)index - n * p.part.size;
    }
    const Axis* axis = p.axis;
    u64 plane = group * p.each, end = min(plane + p.each, p.planes);
    u64 to = plane * part + at;
#if V_MAXGRAD || V_MEANGRAD || V_FOLD
    u32 line = axis[2].in.divide(at), x = at - line * axis[2].in.size;
    u32 z = axis[1].in.divide(line), y = line - z * axis[1].in.size;
    Readers rz = readers(p, axis[0], z), ry = readers(p, axis[1], y), rx = readers(p, axis[2], x);
    for (; plane < end; plane++, to += part) {
#if V_MAXGRAD
        const T* from = p.a + plane * p.inputs;
        const T* tops = p.b + plane * p.outputs;
        const T* g = p.c + plane * p.outputs;
        W own = widen(from[at]);
#elif V_MEANGRAD
        const T* g = p.a + plane * p.outputs;
#else
        const T* g = p.a + plane * p.places * p.outputs;
#endif
        W sum = 0;
        for (u32 oz = rz.from; oz < rz.to; oz++) {
            i32 kz = place(p, axis[0], z, oz);
            if (kz < 0) continue;
            for (u32 oy = ry.from; oy < ry.to; oy++) {
                i32 ky = place(p, axis[1], y, oy);
                if (ky < 0) continue;
                for (u32 ox = rx.from; ox < rx.to; ox++) {
                    i32 kx = place(p, axis[2], x, ox);
                    if (kx < 0) continue;
                    u32 o = linear_out(p, oz, oy, ox);
#if V_MAXGRAD
                    W top = widen(tops[o]);
                    if (own == top || (own != own && top != top)) {
                        Window w[3] = {window(p, axis[0], oz), window(p, axis[1], oy), window(p, axis[2], ox)};
                        if (chosen(p, from, w, (i32)at, own)) sum += widen(g[o]);
                    }
#elif V_MEANGRAD
                    sum += widen(g[o]) / (W)divisor(p, oz, oy, ox);
#else
                    i64 k = ((i64)kz * axis[1].kernel.size + ky) * axis[2].kernel.size + kx;
                    sum += widen(g[k * (i64)p.outputs + o]);
#endif
                }
            }
        }
        ((T*)p.out)[to] = narrow(sum, T());
    }
#else
#if V_UNFOLD
    u32 k = at / (u32)p.outputs;
    at -= k * (u32)p.outputs;
#endif
    u32 line = axis[2].out.divide(at), ox = at - line * axis[2].out.size;
    u32 oz = axis[1].out.divide(line), oy = line - oz * axis[1].out.size;
#if V_UNFOLD
    u32 row = axis[2].kernel.divide(k), kx = k - row * axis[2].kernel.size;
    u32 kz = axis[1].kernel.divide(row), ky = row - kz * axis[1].kernel.size;
    i32 z = (i32)(oz * axis[0].stride.size + kz * axis[0].dilation.size) - axis[0].padding;
    i32 y = (i32)(oy * axis[1].stride.size + ky * axis[1].dilation.size) - axis[1].padding;
    i32 x = (i32)(ox * axis[2].stride.size + kx * axis[2].dilation.size) - axis[2].padding;
    bool inside = (u32)z < axis[0].in.size && (u32)y < axis[1].in.size && (u32)x < axis[2].in.size;
    i32 source = inside ? linear(p, z, y, x) : 0;
    for (; plane < end; plane++, to += part) ((T*)p.out)[to] = inside ? p.a[plane * p.inputs + source] : T();
#else
    Window w[3] = {window(p, axis[0], oz), window(p, axis[1], oy), window(p, axis[2], ox)};
#if V_MEAN
    W by = (W)divisor(p, oz, oy, ox);
    // A lane adds each 32nd element of a window, and then all lanes what they have.
    if (p.together) {
        for (; plane < end; plane++, to += part) {
            const T* from = p.a + plane * p.inputs;
            u32 row = (u32)w[2].count, all = row * (u32)w[1].count * (u32)w[0].count;
            W v = 0;
#pragma unroll 4
            for (u32 i = threadIdx.x % 32; i < all; i += 32) {
                u32 lines = i / row, k = i - lines * row, z = lines / (u32)w[1].count, y = lines - z * (u32)w[1].count;
                v += widen(from[linear(p, w[0].first + (i32)z * w[0].step, w[1].first + (i32)y * w[1].step, w[2].first + (i32)k * w[2].step)]);
            }
#pragma unroll
            for (u32 far = 16; far > 0; far /= 2) v += __shfl_xor_sync(~0u, v, far);
            if (threadIdx.x % 32 == 0) ((T*)p.out)[to] = narrow(v / by, T());
        }
        return;
    }
#endif
    for (; plane < end; plane++, to += part) {
        const T* from = p.a + plane * p.inputs;
#if V_AT
        ((i64*)p.out)[to] = largest(p, from, w);
#elif V_PICK
        ((T*)p.out)[to] = p.b[plane * p.inputs + largest(p, from, w)];
#else
#if V_MAX
        W v = least(W());
#else
        W v = 0;
#endif
        for (i32 z = 0; z < w[0].count; z++)
            for (i32 y = 0; y < w[1].count; y++) {
                i32 line = linear(p, w[0].first + z * w[0].step, w[1].first + y * w[1].step, w[2].first);
#pragma unroll 4
                for (i32 k = 0; k < w[2].count; k++, line += w[2].step) {
                    W next = widen(from[line]);
#if V_MAX
                    v = next > v || next != next ? next : v;
#else
                    v += next;
#endif
                }
            }
#if V_MEAN
        v /= by;
#endif
        ((T*)p.out)[to] = narrow(v, T());
#endif
    }
#endif
#endif
}
