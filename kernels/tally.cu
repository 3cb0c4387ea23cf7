// How many elements lie in each of some intervals of the same width. Blocks count in shared memory, their warps apart as far as there is room, and
// add what they have to the result: counts are the same in any order.
#include "common.cuh"

using T = V_T;

// BINS: intervals. WORDS: counts of a block. TIMES: elements that a thread asks for at a time.
enum : u32 { THREADS = 256, WARPS = THREADS / 32, BINS = 2048, WORDS = 4096, TIMES = 8, CHUNK = THREADS * TIMES };

struct Tally {
    u64* out;
    const T* x;
    const T* low;
    const T* high;
    u64 count;   // elements
    u32 bins;
    u32 copies;  // of a block's counts
};

// One by one, as the rows round them.
__device__ __forceinline__ float less(float a, float b) { return __fsub_rn(a, b); }
__device__ __forceinline__ double less(double a, double b) { return __dsub_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float over(float a, float b) { return __fdiv_rn(a, b); }
__device__ __forceinline__ double over(double a, double b) { return __ddiv_rn(a, b); }

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Tally p) {
    __shared__ u32 counts[WORDS];
    for (u32 i = threadIdx.x; i < p.bins * p.copies; i += THREADS) counts[i] = 0;
    __syncthreads();
    u32* own = counts + threadIdx.x / 32 % p.copies * p.bins;
    T low = *p.low, high = *p.high, width = less(high, low), bins = (T)p.bins;
    for (u64 start = (u64)blockIdx.x * CHUNK; start < p.count; start += (u64)gridDim.x * CHUNK) {
        T x[TIMES];
#pragma unroll
        for (u32 i = 0; i < TIMES; i++) {
            u64 at = start + i * THREADS + threadIdx.x;
            // What is not there is in none, as NaN is.
            x[i] = at < p.count ? p.x[at] : (T)__int_as_float(0x7fffffff);
        }
#pragma unroll
        for (u32 i = 0; i < TIMES; i++) {
            if (!(low <= x[i] && x[i] <= high)) continue;
            // Both ends belong to it; what is rounded up to the upper one, or is it, lies in the last.
            u32 bin = (u32)times(over(less(x[i], low), width), bins);
            atomicAdd(own + min(bin, p.bins - 1), 1u);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < p.bins; i += THREADS) {
        u32 sum = 0;
        for (u32 copy = 0; copy < p.copies; copy++) sum += counts[copy * p.bins + i];
        if (sum) atomicAdd(p.out + i, (u64)sum);
    }
}
