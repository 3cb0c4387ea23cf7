// Windows over planes with two axes, of which a block has what they see in shared memory: whole planes, or lines of one.
//
// Memory is read and written once, in the order in which it lies, however windows lie on it. What is computed is said by V_MAX (the largest element of
// each window), V_AT (where it stands), V_MEAN, V_MAXGRAD or V_MEANGRAD. Of gradients a block has inputs, and of all windows that hold one of them it keeps
// what goes to their inputs, and of the largest elements where these stand: each input adds in the order of windows. `pool.cu` has the same for any
// number of axes, and for lines that are longer than shared memory.
#include "pool.cuh"
#include "span.cuh"

struct PoolSpan {
    void* out;
    const T* x;
    const T* g;           // of gradients
    u64 planes;
    u64 inputs, outputs;  // elements and windows of a plane
    i64 number;           // what sums are divided by, where `share` is 2
    Axis axis[2];
    Divisor rows;         // lines of the result that a block has, of each of its planes
    Divisor tiles;        // blocks for each plane
    u32 together;         // planes of a block
    u32 share;            // what sums are divided by: the places of a window, its elements, a number
    u32 span;             // bytes of elements that a block may have
    u32 windows;          // that it may have, of gradients
    u32 side;             // 2 or 3 for windows of so many places in both axes, every two: of 2 none hangs over, of 3 none is empty; 0 for all others
    u32 unused;
};

// Where `N` results of a thread begin: their line and their place there, and those of the results that all threads further are.
template <u32 N>
struct Walk {
    u32 line, at, width, lines, rest;
    __device__ __forceinline__ Walk(const Divisor& a) : width(a.size) {
        line = a.divide(threadIdx.x * N), at = threadIdx.x * N - line * width;
        lines = a.divide(THREADS * N), rest = THREADS * N - lines * width;
    }
    __device__ __forceinline__ void step() {
        line += lines, at += rest;
        if (at >= width) at -= width, line++;
    }
};

// The windows that hold an input: `SIZE` places every `STEP`, or as the axis says where `SIZE` is 0.
template <u32 SIZE, u32 STEP>
__device__ __forceinline__ Readers held(const Axis& a, u32 i) {
    u32 at = i + (u32)a.padding;
    if constexpr (SIZE > 0) {
        u32 from = at >= SIZE ? (at - SIZE) / STEP + 1 : 0;
        return {from, min(at / STEP + 1, a.out.size)};
    }
    u32 reach = a.dilation.size * (a.kernel.size - 1);
    return {at > reach ? a.stride.divide(at - reach + a.stride.size - 1) : 0, min(a.stride.divide(at) + 1, a.out.size)};
}

// Calls `with` for each window that holds one of `N` inputs side by side.
template <u32 SIZE, u32 STEP, u32 N, typename F>
__device__ __forceinline__ void each(Readers r, F with) {
    if constexpr (SIZE > 0) {
#pragma unroll
        for (u32 i = 0; i < (SIZE + N - 2) / STEP + 1; i++)
            if (r.from + i < r.to) with(r.from + i);
    } else {
#pragma unroll 1
        for (u32 o = r.from; o < r.to; o++) with(o);
    }
}

// The elements of an axis that windows see.
__device__ __forceinline__ Readers seen(const Axis& a, u32 from, u32 to) {
    i32 first = (i32)(from * a.stride.size) - a.padding;
    i32 end = (i32)((to - 1) * a.stride.size + a.dilation.size * (a.kernel.size - 1)) + 1 - a.padding;
    u32 begin = (u32)max(first, 0);
    return {begin, max((u32)max(min(end, (i32)a.in.size), 0), begin)};
}

#if V_MEAN || V_MEANGRAD
__device__ __forceinline__ W divisor(const PoolSpan& p, u32 oy, u32 ox, i32 elements) {
    if (p.share == 2) return (W)p.number;
    return p.share == 1 ? (W)elements : (W)(places(p.axis[0], oy) * places(p.axis[1], ox));
}
#endif

#if V_MEAN
// The sum of a window's elements, whose first line begins at `start`. Those that hang over are zeros: what is added to one was 0, and no -0.
template <u32 SIZE, u32 STEP>
__device__ __forceinline__ W sum(const PoolSpan& p, const T* x, u32 start, u32 first, u32 oy, u32 ox) {
    const Axis &ay = p.axis[0], &ax = p.axis[1];
    const u32 width = ax.in.size;
    W v = 0;
    if constexpr (SIZE > 0) {
        i32 y = (i32)(oy * STEP) - ay.padding, k = (i32)(ox * STEP) - ax.padding;
#pragma unroll
        for (u32 i = 0; i < SIZE; i++)
#pragma unroll
            for (u32 j = 0; j < SIZE; j++) {
                bool inside = SIZE == 2 || ((u32)y + i < ay.in.size && (u32)k + j < width);
                v += inside ? widen(x[start + ((u32)y + i - first) * width + (u32)k + j]) : W(0);
            }
    } else {
        Window wy = window(ay, oy), wx = window(ax, ox);
        u32 line = start + ((u32)wy.first - first) * width + (u32)wx.first;
#pragma unroll 1
        for (i32 i = 0; i < wy.count; i++, line += width)
#pragma unroll 1
            for (i32 j = 0; j < wx.count; j++) v += widen(x[line + (u32)j]);
    }
    return v;
}
#elif !V_MEANGRAD
// Where the largest element of a window stands: of equal ones the first, of NaNs the last; nowhere in a window without elements.
template <u32 SIZE, u32 STEP>
__device__ __forceinline__ u32 largest(const PoolSpan& p, const T* x, u32 start, u32 first, u32 oy, u32 ox, W& best) {
    const Axis &ay = p.axis[0], &ax = p.axis[1];
    const u32 width = ax.in.size;
    best = least(W());
    auto look = [&](u32& at, u32 here) {
        W v = widen(x[here]);
        if (v > best || v != v) best = v, at = here;
    };
    if constexpr (SIZE > 0) {
        // What hangs over is the element beside it once more, which changes nothing.
        i32 y = (i32)(oy * STEP) - ay.padding, k = (i32)(ox * STEP) - ax.padding;
        auto within = [](i32 at, u32 size) { return (u32)(SIZE == 2 ? at : min(max(at, 0), (i32)size - 1)); };
        u32 column[SIZE], at;
#pragma unroll
        for (u32 j = 0; j < SIZE; j++) column[j] = within(k + (i32)j, width);
#pragma unroll
        for (u32 i = 0; i < SIZE; i++) {
            u32 line = start + (within(y + (i32)i, ay.in.size) - first) * width;
            if (i == 0) at = line + column[0];
#pragma unroll
            for (u32 j = 0; j < SIZE; j++) look(at, line + column[j]);
        }
        return at;
    } else {
        Window wy = window(ay, oy), wx = window(ax, ox);
        u32 line = start + ((u32)wy.first - first) * width + (u32)wx.first, at = line;
#pragma unroll 1
        for (i32 i = 0; i < wy.count; i++, line += (u32)wy.step * width)
#pragma unroll 1
            for (i32 j = 0; j < wx.count; j++) look(at, line + (u32)(j * wx.step));
        return wy.count > 0 && wx.count > 0 ? at : ~0u;
    }
}
#endif

// A block's planes, and the lines of results that it has of each.
struct Own {
    u64 plane;
    u32 planes, first, lines;
};
__device__ __forceinline__ Own owned(const PoolSpan& p, const Divisor& all) {
    u32 group = p.tiles.divide(blockIdx.x), first = (blockIdx.x - group * p.tiles.size) * p.rows.size;
    u64 plane = (u64)group * p.together;
    return {plane, (u32)min((u64)p.together, p.planes - plane), first, min(p.rows.size, all.size - first)};
}

#if V_MAXGRAD || V_MEANGRAD
// Elements side by side, as they are written.
template <u32 N>
struct alignas(N * sizeof(T) > 16 ? 16 : N * sizeof(T)) Pack {
    T of[N];
};

// A thread has `N` inputs side by side at a time.
template <u32 SIZE, u32 STEP, u32 N>
__device__ __forceinline__ void route(const PoolSpan& p, T* span, W* value, u16* at) {
    const Axis &ay = p.axis[0], &ax = p.axis[1];
    Own own = owned(p, ay.in);
    // Of several planes all lines, so that they lie side by side.
    bool whole = p.together > 1;
    Readers windows = {held<SIZE, STEP>(ay, own.first).from, held<SIZE, STEP>(ay, own.first + own.lines - 1).to};
    if (whole) windows = {0, ay.out.size};
    u32 held_lines = max(windows.to, windows.from) - windows.from;
#if V_MAXGRAD
    Readers lines = held_lines ? seen(ay, windows.from, windows.to) : Readers{0, 0};
    if (whole) lines = {0, ay.in.size};
    const u32 width = ax.in.size;
    const T* x = p.x + own.plane * p.inputs + (u64)lines.from * width;
    u32 start = bring<THREADS>(span, x, whole ? own.planes * (u32)p.inputs : (lines.to - lines.from) * width);
    __syncthreads();
#endif
    const T* g = p.g + own.plane * p.outputs + (u64)windows.from * ax.out.size;
    Walk<1> from(ax.out);
    for (u32 i = threadIdx.x; i < own.planes * held_lines * ax.out.size; i += THREADS, from.step()) {
        u32 plane = whole ? ay.out.divide(from.line) : 0, oy = windows.from + from.line - plane * ay.out.size;
        W v = widen(g[i]);
#if V_MAXGRAD
        W best;
        at[i] = (u16)largest<SIZE, STEP>(p, span, start + plane * (u32)p.inputs, lines.from, oy, from.at, best);
        value[i] = v;
#else
        i32 elements = p.share == 1 ? window(ay, oy).count * window(ax, from.at).count : 0;
        value[i] = v / divisor(p, oy, from.at, elements);
#endif
    }
    __syncthreads();
    T* out = (T*)p.out + own.plane * p.inputs + (u64)own.first * ax.in.size;
    Walk<N> to(ax.in);
    for (u32 i = threadIdx.x * N; i < own.planes * own.lines * ax.in.size; i += THREADS * N, to.step()) {
        u32 plane = whole ? ay.in.divide(to.line) : 0, iy = own.first + to.line - plane * ay.in.size;
#if V_MAXGRAD
        u32 here = start + plane * (u32)p.inputs + (iy - lines.from) * width + to.at;
#endif
        Readers rx = {held<SIZE, STEP>(ax, to.at).from, held<SIZE, STEP>(ax, to.at + N - 1).to};
        W sum[N] = {};
        each<SIZE, STEP, 1>(held<SIZE, STEP>(ay, iy), [&](u32 oy) {
            u32 of = (plane * ay.out.size + oy - windows.from) * ax.out.size;
            each<SIZE, STEP, N>(rx, [&](u32 ox) {
                W v = value[of + ox];
#if V_MAXGRAD
                u32 place = at[of + ox] - here;
#else
                u32 size = SIZE > 0 ? SIZE : ax.kernel.size, first = ox * (SIZE > 0 ? STEP : ax.stride.size) - (u32)ax.padding;
#endif
#pragma unroll
                for (u32 k = 0; k < N; k++)
#if V_MAXGRAD
                    if (place == k) sum[k] += v;
#else
                    if (to.at + k - first < size) sum[k] += v;
#endif
            });
        });
        Pack<N> pack;
#pragma unroll
        for (u32 k = 0; k < N; k++) pack.of[k] = narrow(sum[k], T());
        *(Pack<N>*)(out + i) = pack;
    }
}
#else
template <u32 SIZE, u32 STEP>
__device__ __forceinline__ void look(const PoolSpan& p, T* span) {
    const Axis &ay = p.axis[0], &ax = p.axis[1];
    const u32 width = ax.in.size;
    Own own = owned(p, ay.out);
    bool whole = p.together > 1;
    Readers lines = whole ? Readers{0, ay.in.size} : seen(ay, own.first, own.first + own.lines);
    const T* x = p.x + own.plane * p.inputs + (u64)lines.from * width;
    u32 start = bring<THREADS>(span, x, whole ? own.planes * (u32)p.inputs : (lines.to - lines.from) * width);
    __syncthreads();
    u64 first = own.plane * p.outputs + (u64)own.first * ax.out.size;
    Walk<1> to(ax.out);
    for (u32 i = threadIdx.x; i < own.planes * own.lines * ax.out.size; i += THREADS, to.step()) {
        u32 plane = whole ? ay.out.divide(to.line) : 0, oy = own.first + to.line - plane * ay.out.size;
        u32 begin = start + plane * (u32)p.inputs;
#if V_MEAN
        W v = sum<SIZE, STEP>(p, span, begin, lines.from, oy, to.at);
        i32 elements = p.share == 1 ? window(ay, oy).count * window(ax, to.at).count : 0;
        ((T*)p.out)[first + i] = narrow(v / divisor(p, oy, to.at, elements), T());
#else
        W best;
        u32 at = largest<SIZE, STEP>(p, span, begin, lines.from, oy, to.at, best);
#if V_AT
        ((i64*)p.out)[first + i] = (i64)(i32)(at - begin) + (i64)lines.from * width;
#else
        ((T*)p.out)[first + i] = narrow(best, T());
#endif
#endif
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ PoolSpan p) {
    extern __shared__ uint4 memory[];
    T* span = (T*)memory;
#if V_MAXGRAD || V_MEANGRAD
    W* value = (W*)((u8*)memory + p.span);
    u16* at = (u16*)(value + p.windows);
    bool packs = p.axis[1].in.size % 4 == 0;
    if (p.side == 2 && packs) route<2, 2, 4>(p, span, value, at);
    else if (p.side == 3 && packs) route<3, 2, 4>(p, span, value, at);
    else if (packs) route<0, 1, 4>(p, span, value, at);
    else route<0, 1, 1>(p, span, value, at);
#else
    if (p.side == 2) look<2, 2>(p, span);
    else if (p.side == 3) look<3, 2>(p, span);
    else look<0, 1>(p, span);
#endif
}
