// Where values belong in sorted lines: how many elements are smaller than each, or with `right` not larger. Where one line is short and values
// are many, blocks keep it in shared memory and take turns.
#include "keys.cuh"

// KEPT: bytes of a line that blocks keep.
enum : u32 { THREADS = 256, KEPT = 1 << 15 };

struct Search {
    i64* out;
    const U* sorted;
    const U* values;
    u64 length;  // of a sorted line
    u64 each;    // values for a line
    u64 count;   // of all values
    u64 right;
    u64 turn;    // see keys.cuh
    u64 keeps;   // whether blocks keep the one line there is
};

// Where an element of a line is kept.
__device__ __forceinline__ constexpr u32 place(u32 i) { return i + i / 32 + i / 128; }

// As below, of a line that is kept: steps that are the same for all, so that nothing but comparisons depends on the values.
__device__ __forceinline__ void kept(const Search& p) {
    // Steps are powers of two: side by side, what most threads look at would be one bank's.
    __shared__ K line[place(KEPT / sizeof(K))];
    u32 length = (u32)p.length, most = 1u << (31 - __clz(length));
    for (u32 i = threadIdx.x; i < length; i += THREADS) line[place(i)] = key_of(p.sorted[i], p.turn);
    __syncthreads();
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.count; i += (u64)gridDim.x * THREADS) {
        K key = key_of(p.values[i], p.turn);
        u32 low = 0;
        for (u32 step = most; step > 0; step /= 2) {
            u32 next = low + step;
            if (next > length) continue;
            K at = line[place(next - 1)];
            if (p.right ? at <= key : at < key) low = next;
        }
        p.out[i] = (i64)low;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Search p) {
    if (p.keeps) return kept(p);
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.count) return;
    const U* line = p.sorted + i / p.each * p.length;
    K key = key_of(p.values[i], p.turn);
    u64 low = 0, left = p.length;
    while (left > 0) {
        u64 half = left / 2;
        K at = key_of(line[low + half], p.turn);
        bool before = p.right ? at <= key : at < key;
        low = before ? low + half + 1 : low;
        left = before ? left - half - 1 : half;
    }
    p.out[i] = (i64)low;
}
