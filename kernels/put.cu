// Values at indices: out[o, index[j], i] = value[o, j, i], of several at one place the last. Where there are few, a block has one index and
// some of what is written there, and looks up itself whether a later one is the same. Where there are many, it is found out before which
// is the last of each place (the largest number, whatever the order of the atomics is), and threads have a unit each: of the values, or where
// most places are written to, of the result, whose neighbours are written together.
#include "index.cuh"

struct alignas(16) b128 {
    u32 x, y, z, w;
};

// Units of a block.
constexpr u32 THREADS = 256, TIMES = 4, BLOCK = THREADS * TIMES;

struct Put {
    void* out;
    const void* base;  // what is copied along where nothing is written, unless it lies in the result already
    const void* value;
    const i64* index;
    u32* refused;  // whether any index is out of range: then nothing is written
    u32* last;     // one more than the last index of each place, where there are many
    u64 count;     // indices
    u64 n;         // places
    u64 outer;
    u64 inner;     // units that lie side by side
    u32 one;       // one value for all
    u32 chunks;    // blocks of an index
    u32 places;    // whether threads have units of the result
    u32 unused;
};

#ifdef V_LAST
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Put p) {
    u64 j = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (j >= p.count) return;
    i64 at = p.index[j];
    if (at < 0 || at >= (i64)p.n) *p.refused = 1;
    else if (p.last) atomicMax(p.last + at, (u32)j + 1);
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Put p) {
    using T = V_T;
    bool refused = *p.refused != 0;
    if (refused && !p.base) return;
    T* out = (T*)p.out;
    const T* base = (const T*)p.base;
    const T* value = (const T*)p.value;
    u64 units = p.outer * p.inner;
    if (p.places) {
        u64 all = units * p.n, first = (u64)blockIdx.x * BLOCK + threadIdx.x;
        u64 from[TIMES];
        u32 last[TIMES];
#pragma unroll
        for (int i = 0; i < (int)TIMES; i++) {
            u64 unit = first + i * (int)THREADS;
            last[i] = 0;
            if (unit >= all) continue;
            u64 row = p.inner == 1 ? unit : unit / p.inner;
            u64 e = unit - row * p.inner, o = p.outer == 1 ? 0 : row / p.n;
            last[i] = refused ? 0 : p.last[row - o * p.n];
            from[i] = p.one ? 0 : (o * p.count + last[i] - 1) * p.inner + e;
        }
        T found[TIMES];
#pragma unroll
        for (int i = 0; i < (int)TIMES; i++)
            if (last[i]) found[i] = value[from[i]];
            else if (base && first + i * (int)THREADS < all) found[i] = base[first + i * (int)THREADS];
#pragma unroll
        for (int i = 0; i < (int)TIMES; i++)
            if (last[i] || (base && first + i * (int)THREADS < all)) out[first + i * (int)THREADS] = found[i];
        return;
    }
    if (p.last) {
        u64 all = units * p.count, first = (u64)blockIdx.x * BLOCK + threadIdx.x;
#pragma unroll 1
        for (int i = 0; i < (int)TIMES; i++) {
            u64 unit = first + i * (int)THREADS;
            if (unit >= all) continue;
            u64 row = p.inner == 1 ? unit : unit / p.inner;
            u64 e = unit - row * p.inner, o = p.outer == 1 ? 0 : row / p.count;
            u64 j = row - o * p.count;
            u64 at = (u64)p.index[j];
            if (p.last[at] == (u32)j + 1) out[(o * p.n + at) * p.inner + e] = value[p.one ? 0 : unit];
        }
        return;
    }
    u64 j = blockIdx.x / p.chunks;
    u64 first = (u64)(blockIdx.x % p.chunks) * BLOCK + threadIdx.x;
    i64 at = p.index[j];
    bool again = false;
    for (u64 k = j + 1 + threadIdx.x; k < p.count; k += THREADS) again |= p.index[k] == at;
    if (__syncthreads_or(again)) return;
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++) {
        u64 unit = first + i * (int)THREADS;
        if (unit >= units) continue;
        u64 o = unit / p.inner;
        u64 e = unit - o * p.inner;
        u64 from = p.one ? 0 : (o * p.count + j) * p.inner + e;
        out[(o * p.n + (u64)at) * p.inner + e] = value[from];
    }
}
#endif
