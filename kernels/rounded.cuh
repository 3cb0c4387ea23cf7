// Products and sums that are rounded one by one, of `V_T`: nothing becomes a multiply-add, so these are the CPU's bits. V_WIDE: f64.
#pragma once

using T = V_T;
#if V_WIDE
__device__ __forceinline__ T mul(T a, T b) { return __dmul_rn(a, b); }
__device__ __forceinline__ T add(T a, T b) { return __dadd_rn(a, b); }
#else
__device__ __forceinline__ T mul(T a, T b) { return __fmul_rn(a, b); }
__device__ __forceinline__ T add(T a, T b) { return __fadd_rn(a, b); }
#endif
