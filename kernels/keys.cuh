// Keys: unsigned integers in the order of elements. Equal elements (zeros of either sign, NaN of any kind) have the same one, and
// NaN has the largest. An element is read as its bits, `U`; a key is a `K`, of 32 bits at least.
#pragma once
#include "common.cuh"

using U = V_U;
using K = V_K;
constexpr int BYTES = sizeof(U);
constexpr U SIGN = (U)((U)1 << (8 * BYTES - 1));
constexpr K LARGEST = (K)(U)~(U)0;

// `turn` has the bits that are turned: all of them for descending order, and the sign of signed integers.
__device__ __forceinline__ K key_of(U bits, u64 turn) {
    U key = bits;
#if V_FLOAT
    U magnitude = (U)(bits & (U)~SIGN);
    // All bits of a negative number are turned, and the sign of a positive one.
    key = bits & SIGN ? (U)~bits : (U)(bits | SIGN);
    if (magnitude == 0) key = SIGN;
    if (magnitude > (U)V_INFINITY) key = (U)~(U)0;
#endif
    return (K)(U)(key ^ (U)turn);
}

// The bits of an element with this key. A zero's sign is not in it.
__device__ __forceinline__ U of_key(K of, u64 turn) {
    U key = (U)((U)of ^ (U)turn);
#if V_FLOAT
    if (key == (U)~(U)0) return (U)V_NAN;
    return key & SIGN ? (U)(key ^ SIGN) : (U)~key;
#else
    return key;
#endif
}

// Whether an element with this key is a zero that has a sign.
__device__ __forceinline__ bool has_two_signs(K of, u64 turn) {
#if V_FLOAT
    return (U)((U)of ^ (U)turn) == SIGN;
#else
    return false;
#endif
}
