// Images of another size: weighted sums of elements by index along both of the last axes at once. V_WIDE: f64.
//
// out[.., j, k] = sum over taps s of w[s, j] * (sum over taps t of v[t, k] * x[.., a[s, j], b[t, k]]), or with the sums exchanged. Products and sums are rounded
// one by one, in the order of taps: the bits of one axis after the other. A thread reads indices and weights of its position once, for several planes.
#include "index.cuh"
#include "rounded.cuh"

constexpr u32 THREADS = 256, TAPS = 4;

struct Resample {
    T* out;
    const T* x;
    const i64* rows[TAPS];
    const T* by_rows[TAPS];
    const i64* columns[TAPS];
    const T* by_columns[TAPS];
    u64 planes;
    u32 height, width;     // of planes of x
    u32 positions;         // of the result
    u32 each;              // planes of a thread
    u32 taps;
    u32 last_first;        // whether inner sums are along the last axis
    Divisor across;        // blocks for all positions
    Divisor line;          // positions of a line of the result
};

// Where a tap's elements are along an axis, what they count, and whether they are there.
template <u32 N>
struct Taps {
    u32 at[N];
    T weight[N];
    bool counts[N];
    __device__ __forceinline__ Taps(const i64* const (&index)[TAPS], const T* const (&by)[TAPS], u32 place, u32 size) {
#pragma unroll
        for (u32 t = 0; t < N; t++) {
            i64 i = index[t][place];
            counts[t] = i >= 0 && i < size;
            at[t] = counts[t] ? (u32)i : 0;
            weight[t] = by[t][place];
        }
    }
    template <typename F>
    __device__ __forceinline__ T sum(F of) const {
        T sum = mul(counts[0] ? of(0) : T(0), weight[0]);
#pragma unroll
        for (u32 t = 1; t < N; t++) sum = add(sum, mul(counts[t] ? of(t) : T(0), weight[t]));
        return sum;
    }
};

template <u32 N, u32 AT_ONCE, bool LAST_FIRST>
__device__ __forceinline__ void resample(const Resample& p, u32 position, u64 plane) {
    u32 row = p.line.divide(position), column = position - row * p.line.size;
    const Taps<N> down(p.rows, p.by_rows, row, p.height), along(p.columns, p.by_columns, column, p.width);
    u32 from[N][N];
#pragma unroll
    for (u32 s = 0; s < N; s++)
#pragma unroll
        for (u32 t = 0; t < N; t++) from[s][t] = down.at[s] * p.width + along.at[t];
    const u64 end = min(plane + p.each, p.planes), inputs = (u64)p.height * p.width;
    const T* x = p.x + plane * inputs;
    T* out = p.out + plane * p.positions + position;
#pragma unroll 1
    for (; plane < end; plane += AT_ONCE, x += AT_ONCE * inputs, out += (u64)AT_ONCE * p.positions) {
        T value[AT_ONCE][N][N];
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++)
#pragma unroll
            for (u32 s = 0; s < N; s++)
#pragma unroll
                for (u32 t = 0; t < N; t++) value[i][s][t] = plane + i < end ? x[i * inputs + from[s][t]] : T(0);
#pragma unroll
        for (u32 i = 0; i < AT_ONCE; i++) {
            const T(&v)[N][N] = value[i];
            T sum = LAST_FIRST ? down.sum([&](u32 s) { return along.sum([&](u32 t) { return v[s][t]; }); })
                               : along.sum([&](u32 t) { return down.sum([&](u32 s) { return v[s][t]; }); });
            if (plane + i < end) out[(u64)i * p.positions] = sum;
        }
    }
}

template <u32 N, u32 AT_ONCE>
__device__ __forceinline__ void resample(const Resample& p, u32 position, u64 plane) {
    if (p.last_first) resample<N, AT_ONCE, true>(p, position, plane);
    else resample<N, AT_ONCE, false>(p, position, plane);
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Resample p) {
    u32 group = p.across.divide(blockIdx.x);
    u32 position = (blockIdx.x - group * p.across.size) * THREADS + threadIdx.x;
    if (position >= p.positions) return;
    u64 plane = (u64)group * p.each;
    switch (p.taps) {
        case 1: return resample<1, 8>(p, position, plane);
        case 2: return resample<2, 4>(p, position, plane);
        case 3: return resample<3, 1>(p, position, plane);
        default: return resample<4, 1>(p, position, plane);
    }
}
