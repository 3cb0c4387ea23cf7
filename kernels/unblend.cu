// What comes back to elements of which weighted sums were taken: out[.., i, ..] = sum over j, and over taps with index[j] == i, of weight[j] * g[.., j, ..].
//
// A first launch finds for each place i between which positions j its index stands; those are few and side by side where an image is made larger
// or smaller. Then a thread has some neighbouring elements of the result and goes through these positions. Products and sums are rounded one by one, in
// the order of positions and of the taps of each: the CPU's bits.
#include "index.cuh"
#include "rounded.cuh"

// LINES: lines for which a thread has a place. Elements that lie alone along the axis are read one by one, and what is said of positions once for all lines.
constexpr u32 THREADS = 256, TAPS = 4, LINES = 8;

struct Unblend {
    T* out;
    const T* g;
    const i64* index[TAPS];
    const T* weight[TAPS];
    u32* first;     // of each place, the first position that names it
    u32* end;       // and the one behind the last
    u64 count;      // units of the result, of as many lines as a thread has
    Divisor inner;  // units side by side, of one place
    Divisor size;   // places
    u32 lines;
    u32 along;      // positions
    u32 taps;
    u32 unused;
};

template <u32 N>
struct alignas(N * sizeof(T)) Unit {
    T v[N];
};

#if V_FIND
// A warp has a place.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Unblend p) {
    u32 place = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (place >= p.size.size) return;
    u32 first = p.along, end = 0;
    for (u32 t = 0; t < p.taps; t++)
        for (u32 j = lane; j < p.along; j += 32)
            if (p.index[t][j] == (i64)place) first = min(first, j), end = max(end, j + 1);
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) {
        first = min(first, __shfl_xor_sync(0xffffffffu, first, by));
        end = max(end, __shfl_xor_sync(0xffffffffu, end, by));
    }
    if (lane == 0) p.first[place] = first, p.end[place] = end;
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Unblend p) {
    using Units = Unit<V_UNIT>;
    constexpr u32 OWN = V_UNIT == 1 ? LINES : 1;
    u64 unit = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (unit >= p.count) return;
    u32 row = p.inner.divide((u32)unit), e = (u32)unit - row * p.inner.size;
    u32 line = p.size.divide(row), place = row - line * p.size.size;
    line *= OWN;
    u32 lines = min(OWN, p.lines - line);
    u64 inner = p.inner.size, step = p.along * inner;
    const Units* g = (const Units*)p.g + line * step + e;
    Units sum[OWN] = {};
    u32 end = p.end[place];
    for (u32 j = p.first[place]; j < end; j++) {
        Units own[OWN];
#pragma unroll
        for (u32 k = 0; k < OWN; k++)
            if (k < lines) own[k] = g[k * step + j * inner];
#pragma unroll
        for (u32 t = 0; t < TAPS; t++) {
            if (t >= p.taps || p.index[t][j] != (i64)place) continue;
            T weight = p.weight[t][j];
#pragma unroll
            for (u32 k = 0; k < OWN; k++)
#pragma unroll
                for (u32 i = 0; i < V_UNIT; i++) sum[k].v[i] = add(sum[k].v[i], mul(own[k].v[i], weight));
        }
    }
    Units* out = (Units*)p.out + (line * (u64)p.size.size + place) * inner + e;
#pragma unroll
    for (u32 k = 0; k < OWN; k++)
        if (k < lines) out[k * p.size.size * inner] = sum[k];
}
#endif
