// Cholesky's factorisation: A = L Lᵀ, of symmetric matrices of up to 32 rows, of which the lower triangle is read, a warp each. Of each
// the answer has L, n × n, and a number: the order of the first leading minor that is not positive definite, or 0. Larger ones are
// factored tile by tile: take_off.cu.
#include "factor.cuh"

using T = V_T;

struct Cholesky {
    T* out;
    const T* from;
    u64 line;   // elements of an answer
    u64 count;  // matrices
    u32 n;
};

constexpr u32 SMALL = 32;
constexpr u32 WARPS = 4;

extern "C" __global__ void __launch_bounds__(32 * WARPS) V_NAME(const __grid_constant__ Cholesky p) {
    __shared__ T all[WARPS][SMALL][SMALL + 1];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, n = p.n;
    const u64 number = (u64)blockIdx.x * WARPS + warp;
    if (number >= p.count) return;
    T(&a)[SMALL][SMALL + 1] = all[warp];
    const T* from = p.from + number * n * n;
    T* to = p.out + number * p.line;
    for (u32 e = lane; e < n * n; e += 32) a[e / n][e % n] = from[e];
    __syncwarp();
    u32 wrong = 0;
    for (u32 j = 0; j < n; j++) {
        // A row of L, as far as it is known, times another one. Four sums, so that they wait less.
        T value = (T)0;
        if (lane >= j && lane < n) {
            T sums[4] = {a[lane][j], (T)0, (T)0, (T)0};
            u32 k = 0;
            for (; k + 4 <= j; k += 4)
#pragma unroll
                for (u32 e = 0; e < 4; e++) sums[e] = less(sums[e], -a[lane][k + e], a[j][k + e]);
            for (; k < j; k++) sums[0] = less(sums[0], -a[lane][k], a[j][k]);
            value = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        }
        T pivot = __shfl_sync(0xffffffffu, value, j);
        if (!(pivot > (T)0) || !is_finite(pivot)) {
            wrong = j + 1;
            break;
        }
        T root = sqrt(pivot), inverse = (T)1 / root;
        if (lane >= j && lane < n) a[lane][j] = lane == j ? root : value * inverse;
        __syncwarp();
    }
    for (u32 e = lane; e < n * n; e += 32) to[e] = e % n <= e / n ? a[e / n][e % n] : (T)0;
    if (lane == 0) to[n * n] = (T)wrong;
}
