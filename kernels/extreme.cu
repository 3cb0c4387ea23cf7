// The largest (or smallest) of what an element was and of all that is written to it by index: base and x as unsigned integers in
// their order, of which the largest stays whatever the order of the atomics is. NaN comes before all, and -0 is less than 0.
#include "index.cuh"

using U = V_U;
using K = V_K;
constexpr u32 THREADS = 256;
#if V_FLOAT
constexpr U SIGN = (U)((U)1 << (8 * sizeof(U) - 1));
#endif
constexpr u32 TAKE = 0, LOWER = 1, RAISE = 2, GIVE = 3;

struct Extreme {
    U* out;
    const U* base;
    const U* x;
    const i64* index;
    Fault* fault;
    K* keys;         // of the result's elements; the result itself where elements are as long
    u64 count;       // what the step walks over: elements of the result, or of x
    i64 limit;
    i64 stride;      // of the result along the axis
    u64 sign;        // of signed integers
    u32 step;
    u32 least;
    Axes<1> places;  // of x: of the result without the axis
};

__device__ __forceinline__ K key_of(U bits, const Extreme& p) {
#if V_FLOAT
    U key = bits & SIGN ? (U)~bits : (U)(bits | SIGN);
    if ((U)(bits & (U)~SIGN) > (U)V_INFINITY) return (K)(U)~(U)0;
    // Turned, what comes before all is left free.
    return p.least ? (K)(U)~(U)(key + 1) : (K)key;
#else
    U key = (U)(bits ^ (U)p.sign);
    return p.least ? (K)(U)~key : (K)key;
#endif
}

__device__ __forceinline__ U of_key(K of, const Extreme& p) {
    U key = (U)of;
#if V_FLOAT
    if (key == (U)~(U)0) return (U)V_NAN;
    if (p.least) key = (U)((U)~key - 1);
    return key & SIGN ? (U)(key ^ SIGN) : (U)~key;
#else
    return (U)((p.least ? (U)~key : key) ^ (U)p.sign);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Extreme p) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= p.count) return;
    if (p.step == TAKE) {
        p.keys[i] = key_of(p.base[i], p);
        return;
    }
    if (p.step == GIVE) {
        p.out[i] = of_key(p.keys[i], p);
        return;
    }
    i64 at[1];
    p.places.offsets(i, at);
    i64 index = p.index[i];
    if (index < 0 || index >= p.limit) {
        report(p.fault, index);
        return;
    }
    K* to = p.keys + at[0] + index * p.stride;
    // Everything is larger.
    if (p.step == LOWER) *to = 0;
    if (p.step == RAISE) atomicMax(to, key_of(p.x[i], p));
}
