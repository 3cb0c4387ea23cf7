// Weighted sums of elements by index: out[.., j, ..] = sum over taps of weight[.., j, ..] * x[.., index[.., j, ..], ..].
//
// Indices and weights are mostly the same along an axis (channels of an image, or its lines): a thread reads those of its position
// once, for several places of that axis. Products and sums are rounded one by one, in the order of taps: the CPU's bits.
#include "index.cuh"
#include "rounded.cuh"

// TIMES: places of the shared axis that a thread has at a time, with few taps. With more these come from anywhere, as grids say, and what is
// asked for at once would not stay in the first-level cache until its neighbours are.
constexpr u32 THREADS = 256, TAPS = 4, TIMES = 4;

struct Blend {
    T* out;
    const T* x;
    const i64* index[TAPS];
    const T* weight[TAPS];
    const u8* inside[TAPS];  // whether a tap counts, if that is asked
    u64 count;               // positions, without the shared axis
    i64 limit;               // valid indices are below
    i64 along;               // of x along its axis
    i64 x_step, out_step;    // along the shared axis
    u32 shared;              // its size
    u32 each;                // of its places a thread has so many
    u32 taps;
    u32 asks;
    Divisor across;          // blocks for all positions
    u32 wide;
    u32 unused;
    Axes<3> axes;            // of indices and weights, of x without its axis, of the result
};

template <u32 N, u32 AT_ONCE>
__device__ __forceinline__ void blend(const Blend& p, u64 position, u32 first) {
    i64 at[3];
    p.axes.offsets(position, at);
    const T* x = p.x + at[1] + (i64)first * p.x_step;
    T* out = p.out + at[2] + (i64)first * p.out_step;
    i64 from[N];
    T weight[N];
    bool counts[N];
#pragma unroll
    for (u32 t = 0; t < N; t++) {
        i64 index = p.index[t][at[0]];
        weight[t] = p.weight[t][at[0]];
        counts[t] = index >= 0 && index < p.limit;
        if (p.asks && !p.inside[t][at[0]]) counts[t] = false;
        from[t] = index * p.along;
    }
    u32 end = min(p.shared, first + p.each);
#pragma unroll 1
    for (u32 place = first; place < end; place += AT_ONCE) {
        T value[AT_ONCE][N];
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (u32 t = 0; t < N; t++) value[i][t] = place + i < end && counts[t] ? x[(i64)i * p.x_step + from[t]] : T(0);
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++) {
            T sum = mul(value[i][0], weight[0]);
#pragma unroll
            for (u32 t = 1; t < N; t++) sum = add(sum, mul(value[i][t], weight[t]));
            if (place + i < end) out[(i64)i * p.out_step] = sum;
        }
        x += AT_ONCE * p.x_step;
        out += AT_ONCE * p.out_step;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Blend p) {
    u32 group = p.across.divide(blockIdx.x);
    u64 position = (u64)(blockIdx.x - group * p.across.size) * THREADS + threadIdx.x;
    if (position >= p.count) return;
    u32 first = group * p.each;
    switch (p.taps) {
        case 1: return blend<1, TIMES>(p, position, first);
        case 2: return blend<2, TIMES>(p, position, first);
        case 3: return blend<3, 1>(p, position, first);
        default: return blend<4, 1>(p, position, first);
    }
}
