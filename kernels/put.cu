// Values at indices: out[o, index[j], i] = value[o, j, i], of several at one place the last. A block has one index and some of what
// is written there. Whether a later index is the same is looked up by each: there are few of them.
#include "index.cuh"

struct alignas(16) b128 {
    u32 x, y, z, w;
};

// Units of a block.
constexpr u32 THREADS = 256, TIMES = 4, BLOCK = THREADS * TIMES;

struct Put {
    void* out;
    const void* value;
    const i64* index;
    u64 count;   // indices
    u64 n;       // places
    u64 outer;
    u64 inner;   // units that lie side by side
    u32 one;     // one value for all
    u32 chunks;  // blocks of an index
};

// What is out of range was refused before, and writes nothing.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Put p) {
    using T = V_T;
    u64 j = blockIdx.x / p.chunks;
    u64 first = (u64)(blockIdx.x % p.chunks) * BLOCK + threadIdx.x;
    i64 at = p.index[j];
    if (at < 0 || at >= (i64)p.n) return;
    bool again = false;
    for (u64 k = j + 1 + threadIdx.x; k < p.count; k += THREADS) again |= p.index[k] == at;
    if (__syncthreads_or(again)) return;
    u64 units = p.outer * p.inner;
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++) {
        u64 unit = first + i * (int)THREADS;
        if (unit >= units) continue;
        u64 o = unit / p.inner;
        u64 e = unit - o * p.inner;
        u64 from = p.one ? 0 : (o * p.count + j) * p.inner + e;
        ((T*)p.out)[(o * p.n + (u64)at) * p.inner + e] = ((const T*)p.value)[from];
    }
}
