// The gradient of the largest elements of windows over planes with two axes, a tile of a plane for each block.
//
// A window has one largest element, which does not depend on who asks. So a block looks for it once for each window that reaches into its tile,
// and keeps where it stands and the gradient that goes there; each input then compares its own position with those of the windows that hold it,
// and adds in the order of these. `pool.cu` has the same for any number of axes, where each input looks through its windows by itself.
#include "pool.cuh"

// Windows that a tile may have.
constexpr u32 WINDOWS = 2048;

struct PoolTiles {
    T* out;
    const T* x;
    const T* g;
    u64 inputs, outputs;  // elements and windows of a plane
    Axis axis[2];
    Divisor tile[2];      // inputs of a tile
    Divisor window[2];    // windows that may hold one of them
    Divisor tiles[2];     // of a plane
};

// The windows that hold an input: `SIZE` places every `STEP`, or as the axis says where `SIZE` is 0.
template <u32 SIZE, u32 STEP>
__device__ __forceinline__ Readers held(const Axis& a, u32 i) {
    u32 at = i + (u32)a.padding;
    if (SIZE) {
        u32 from = at >= SIZE ? (at - SIZE) / STEP + 1 : 0;
        return {from, min(at / STEP + 1, a.out.size)};
    }
    u32 reach = a.dilation.size * (a.kernel.size - 1);
    return {at > reach ? a.stride.divide(at - reach + a.stride.size - 1) : 0, min(a.stride.divide(at) + 1, a.out.size)};
}

template <u32 SIZE, u32 STEP>
__device__ __forceinline__ Window places(const Axis& a, u32 o) {
    if (SIZE) {
        i32 first = (i32)(o * STEP) - a.padding, from = max(first, 0);
        return {from, max(min(first + (i32)SIZE, (i32)a.in.size) - from, 0), 1};
    }
    i32 start = (i32)(o * a.stride.size) - a.padding, step = (i32)a.dilation.size;
    i32 before = start < 0 ? (i32)a.dilation.divide((u32)(step - 1 - start)) : 0;
    i32 first = start + before * step;
    i32 inside = first < (i32)a.in.size ? (i32)a.dilation.divide(a.in.size - (u32)first + (u32)step - 1) : 0;
    return {first, max(min((i32)a.kernel.size - before, inside), 0), step};
}

// Where the largest element of a window stands: of equal ones the first, of NaNs the last.
template <u32 SIZE>
__device__ __forceinline__ u32 top(const T* x, u32 width, const Window& wy, const Window& wx) {
    u32 line = (u32)wy.first * width + (u32)wx.first, at = line;
    W best = least(W());
    if (SIZE && wy.count == (i32)SIZE && wx.count == (i32)SIZE) {
#pragma unroll
        for (u32 y = 0; y < SIZE; y++)
#pragma unroll
            for (u32 k = 0; k < SIZE; k++) {
                u32 here = line + y * width + k;
                W v = widen(x[here]);
                if (v > best || v != v) best = v, at = here;
            }
    } else {
        for (i32 y = 0; y < wy.count; y++, line += (u32)wy.step * width)
            for (i32 k = 0; k < wx.count; k++) {
                u32 here = line + (u32)(k * wx.step);
                W v = widen(x[here]);
                if (v > best || v != v) best = v, at = here;
            }
    }
    return wy.count > 0 && wx.count > 0 ? at : ~0u;
}

template <u32 SIZE, u32 STEP>
__device__ __forceinline__ void route(const PoolTiles& p, u32* at, W* value) {
    const Axis &ay = p.axis[0], &ax = p.axis[1];
    const u32 width = ax.in.size;
    u32 line = p.tiles[1].divide(blockIdx.x), tx = blockIdx.x - line * p.tiles[1].size;
    u32 plane = p.tiles[0].divide(line), ty = line - plane * p.tiles[0].size;
    const T* x = p.x + plane * p.inputs;
    const T* g = p.g + plane * p.outputs;
    T* out = p.out + plane * p.inputs;
    u32 y0 = ty * p.tile[0].size, x0 = tx * p.tile[1].size;
    u32 first_y = held<SIZE, STEP>(ay, y0).from, first_x = held<SIZE, STEP>(ax, x0).from;
    u32 end_y = held<SIZE, STEP>(ay, min(y0 + p.tile[0].size, ay.in.size) - 1).to;
    u32 end_x = held<SIZE, STEP>(ax, min(x0 + p.tile[1].size, width) - 1).to;
    u32 windows = p.window[0].size * p.window[1].size;
    for (u32 i = threadIdx.x; i < windows; i += THREADS) {
        u32 row = p.window[1].divide(i), oy = first_y + row, ox = first_x + (i - row * p.window[1].size);
        if (oy >= end_y || ox >= end_x) continue;
        at[i] = top<SIZE>(x, width, places<SIZE, STEP>(ay, oy), places<SIZE, STEP>(ax, ox));
        value[i] = widen(g[oy * ax.out.size + ox]);
    }
    __syncthreads();
    u32 elements = p.tile[0].size * p.tile[1].size;
    for (u32 i = threadIdx.x; i < elements; i += THREADS) {
        u32 row = p.tile[1].divide(i), iy = y0 + row, ix = x0 + (i - row * p.tile[1].size);
        if (iy >= ay.in.size || ix >= width) continue;
        u32 here = iy * width + ix;
        Readers ry = held<SIZE, STEP>(ay, iy), rx = held<SIZE, STEP>(ax, ix);
        W sum = 0;
        for (u32 oy = ry.from; oy < ry.to; oy++) {
            u32 of = (oy - first_y) * p.window[1].size - first_x;
            for (u32 ox = rx.from; ox < rx.to; ox++)
                if (at[of + ox] == here) sum += value[of + ox];
        }
        out[here] = narrow(sum, T());
    }
}

__device__ __forceinline__ bool is(const PoolTiles& p, u32 size, u32 step) {
    const Axis &y = p.axis[0], &x = p.axis[1];
    return y.kernel.size == size && x.kernel.size == size && y.stride.size == step && x.stride.size == step &&
           y.dilation.size == 1 && x.dilation.size == 1;
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ PoolTiles p) {
    __shared__ u32 at[WINDOWS];
    __shared__ W value[WINDOWS];
    if (is(p, 2, 2)) route<2, 2>(p, at, value);
    else if (is(p, 3, 2)) route<3, 2>(p, at, value);
    else route<0, 1>(p, at, value);
}
