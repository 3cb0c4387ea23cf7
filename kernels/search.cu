// Where values belong in sorted lines: how many elements are smaller than each, or with `right` not larger.
#include "keys.cuh"

constexpr u32 THREADS = 256;

struct Search {
    i64* out;
    const U* sorted;
    const U* values;
    u64 length;  // of a sorted line
    u64 each;    // values for a line
    u64 count;   // of all values
    u64 right;
    u64 turn;    // see keys.cuh
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Search p) {
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
