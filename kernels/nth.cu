// One position of each long line as if it were sorted, without sorting it: digit by digit from the highest one, the elements that begin as
// the one that is looked for are counted, and it is seen which digit it has. In the end it is the key's so-manieth occurrence.
// A launch is one step; parts of a line are counted side by side, and all counts are integers.
#include "keys.cuh"

constexpr u32 THREADS = 256, WARPS = THREADS / 32, PART = 1 << 12, TOGETHER = 4;
constexpr u32 COUNT = 0, CHOOSE = 1, TALLY = 2, FIND = 3;
// What is looked for.
constexpr u32 GIVEN = 0, MIDDLE = 1;
// Counts of a line: of each digit, and of NaN.
constexpr u32 COUNTS = 257;

struct Nth {
    i64* out;
    const U* x;
    u32* counts;
    u64* state;    // of a line: the key as far as it is known, and which of the elements that begin so it is
    u32* tallies;  // how often each part has the key
    u64 length, parts;
    u64 nth;
    u64 turn;      // see keys.cuh
    u64 nan;       // the key of NaN
    u32 step, shift;
    u32 which;
    u32 floats;    // whether there is NaN
};

// The sum over all threads before this one, and of all.
__device__ __forceinline__ u64 sum_before(u64 mine, u64* sums, u64& all) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 sum = mine;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        u64 other = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += other;
    }
    __syncthreads();
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    u64 before = sum - mine;
    all = 0;
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) {
        if (w < warp) before += sums[w];
        all += sums[w];
    }
    return before;
}

__device__ __forceinline__ void count(const Nth& p, u64 row, u64 part) {
    __shared__ u32 counts[COUNTS];
    for (u32 d = threadIdx.x; d < COUNTS; d += THREADS) counts[d] = 0;
    __syncthreads();
    const U* x = p.x + row * p.length;
    u64 start = part * PART, end = min(start + PART, p.length);
    bool first = p.shift + 8 == 8 * BYTES;
    K prefix = first ? 0 : (K)p.state[row * 2] >> p.shift >> 8;
    u32 nans = 0, lane = threadIdx.x % 32;
#pragma unroll 1
    for (u64 from = start; from < end; from += THREADS * TOGETHER) {
        K key[TOGETHER];
        bool in[TOGETHER];
#pragma unroll
        for (u32 i = 0; i < TOGETHER; i++) {
            u64 at = from + i * THREADS + threadIdx.x;
            in[i] = at < end;
            key[i] = in[i] ? key_of(x[at], p.turn) : 0;
        }
#pragma unroll
        for (u32 i = 0; i < TOGETHER; i++) {
            nans += in[i] && key[i] == (K)p.nan;
            u32 digit = (u32)(key[i] >> p.shift) & 255;
            bool left = in[i] && (first || key[i] >> p.shift >> 8 == prefix);
            // What many have, one counts.
#pragma unroll
            for (u32 turn = 0; turn < 2; turn++) {
                u32 waiting = __ballot_sync(~0u, left);
                if (!waiting) break;
                u32 who = __ffs(waiting) - 1;
                // All lanes of a warp meet at the shuffle: it must not stand behind `&&`, where some do not come.
                u32 shared = __shfl_sync(~0u, digit, who);
                u32 same = __ballot_sync(~0u, left && digit == shared);
                if (lane == who) atomicAdd(counts + digit, __popc(same));
                left = left && !(same >> lane & 1);
            }
            if (left) atomicAdd(counts + digit, 1u);
        }
    }
    if (first && p.floats && nans) atomicAdd(counts + 256, nans);
    __syncthreads();
    for (u32 d = threadIdx.x; d < COUNTS; d += THREADS)
        if (counts[d]) atomicAdd(p.counts + row * COUNTS + d, counts[d]);
}

__device__ __forceinline__ void choose(const Nth& p, u64 row, u64* sums) {
    u32* counts = p.counts + row * COUNTS;
    u64* state = p.state + row * 2;
    bool first = p.shift + 8 == 8 * BYTES;
    u64 key = first ? 0 : state[0], at = first ? p.nth : state[1];
    if (first && p.which != GIVEN) {
        u64 numbers = p.length - counts[256];
        at = ((numbers > 0 ? numbers : 1) - 1) / 2;
        if (p.which == MIDDLE && numbers < p.length) at = numbers;
    }
    u64 own = counts[threadIdx.x], all;
    u64 before = sum_before(own, sums, all);
    if (before <= at && at < before + own) {
        state[0] = key | (u64)threadIdx.x << p.shift;
        state[1] = at - before;
    }
    for (u32 d = threadIdx.x; d < COUNTS; d += THREADS) counts[d] = 0;
}

__device__ __forceinline__ void tally(const Nth& p, u64 row, u64 part, u64* sums) {
    const U* x = p.x + row * p.length;
    u64 start = part * PART, end = min(start + PART, p.length);
    K wanted = (K)p.state[row * 2];
    u64 found = 0, all;
#pragma unroll 4
    for (u64 at = start + threadIdx.x; at < end; at += THREADS) found += key_of(x[at], p.turn) == wanted;
    sum_before(found, sums, all);
    if (threadIdx.x == 0) p.tallies[row * p.parts + part] = (u32)all;
}

__device__ __forceinline__ void find(const Nth& p, u64 row, u64* sums) {
    __shared__ u64 part, left;
    const U* x = p.x + row * p.length;
    const u32* tallies = p.tallies + row * p.parts;
    K wanted = (K)p.state[row * 2];
    u64 at = p.state[row * 2 + 1], carry = 0, all;
#pragma unroll 1
    for (u64 from = 0; from < p.parts && carry <= at; from += THREADS) {
        u64 i = from + threadIdx.x, own = i < p.parts ? tallies[i] : 0;
        u64 before = carry + sum_before(own, sums, all);
        if (before <= at && at < before + own) part = i, left = at - before;
        carry += all;
    }
    __syncthreads();
    u64 start = part * PART, end = min(start + PART, p.length), rank = left;
    carry = 0;
#pragma unroll 1
    for (u64 from = start; from < end && carry <= rank; from += THREADS) {
        u64 i = from + threadIdx.x, own = i < end && key_of(x[i], p.turn) == wanted;
        u64 before = carry + sum_before(own, sums, all);
        if (own && before == rank) p.out[row] = (i64)i;
        carry += all;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Nth p) {
    __shared__ u64 sums[WARPS];
    u64 row = blockIdx.x / p.parts, part = blockIdx.x - row * p.parts;
    if (p.step == COUNT) count(p, row, part);
    if (p.step == CHOOSE) choose(p, blockIdx.x, sums);
    if (p.step == TALLY) tally(p, row, part, sums);
    if (p.step == FIND) find(p, blockIdx.x, sums);
}
