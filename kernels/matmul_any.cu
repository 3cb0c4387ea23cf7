// Products of any type and any strides, for every GPU: 64 by 64 sums a block, 4 by 4 a thread, elements one by one.
//
// Half types add in f32, f64 in itself; integers wrap; bool is "any pair is true".
#include "matmul.cuh"

using T = V_T;
using SUM = V_SUM;
constexpr int BM = 64, BN = 64, BK = 16, THREADS = 256;

__device__ __forceinline__ SUM widen(T x) {
#if V_FLOAT
    return to_f32(x);
#else
    return (SUM)x;
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ MatMul p) {
    __shared__ __align__(16) SUM as[BK][BM + 4];
    __shared__ __align__(16) SUM bs[BK][BN + 4];
    Place at(p);
    const T* a = (const T*)p.a + at.a_offset + (i64)at.tile_m * BM * p.a_row;
    const T* b = (const T*)p.b + at.b_offset + (i64)at.tile_n * BN * p.b_col;
    i64 a_row = p.a_row < 0 ? -p.a_row : p.a_row, a_k = p.a_k < 0 ? -p.a_k : p.a_k;
    i64 b_col = p.b_col < 0 ? -p.b_col : p.b_col, b_k = p.b_k < 0 ? -p.b_k : p.b_k;
    bool a_down = a_row < a_k, b_down = b_col < b_k;
    u32 rows = p.m - at.tile_m * BM, cols = p.n - at.tile_n * BN;
    u32 ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    SUM sum[4][4] = {};
    for (u32 k0 = at.k_begin; k0 < at.k_end; k0 += BK) {
#pragma unroll
        for (u32 i = threadIdx.x; i < BK * BM; i += THREADS) {
            u32 r = a_down ? i % BM : i / BK, k = a_down ? i / BM : i % BK;
            bool inside = r < rows && k0 + k < at.k_end;
            as[k][r] = inside ? widen(a[(i64)r * p.a_row + (i64)(k0 + k) * p.a_k]) : SUM(0);
            u32 c = b_down ? i % BN : i / BK;
            k = b_down ? i / BN : i % BK;
            inside = c < cols && k0 + k < at.k_end;
            bs[k][c] = inside ? widen(b[(i64)c * p.b_col + (i64)(k0 + k) * p.b_k]) : SUM(0);
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < BK; k++) {
            SUM fa[4], fb[4];
            for (int i = 0; i < 4; i++) fa[i] = as[k][ty * 4 + i];
            for (int j = 0; j < 4; j++) fb[j] = bs[k][tx * 4 + j];
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
#if V_FLOAT
                    sum[i][j] = __fmaf_rn(fa[i], fb[j], sum[i][j]);
#elif V_BOOL
                    sum[i][j] |= fa[i] & fb[j];
#else
                    sum[i][j] += fa[i] * fb[j];
#endif
                }
        }
        __syncthreads();
    }
#if V_FLOAT
    __shared__ __align__(16) float stage[32 * (BN + 8)];
    store_tile<T, BM, BN, 32, THREADS, 1>(p, at, stage, [&](u32 slice) {
        if (ty / 8 != slice) return;
        for (int i = 0; i < 4; i++)
            *(float4*)(stage + (ty % 8 * 4 + i) * (BN + 8) + tx * 4) =
                make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
    });
#else
    T* out = (T*)p.out + (i64)at.batch * p.m * p.n;
    for (u32 i = 0; i < 4; i++)
        for (u32 j = 0; j < 4; j++) {
            u32 row = at.tile_m * BM + ty * 4 + i, col = at.tile_n * BN + tx * 4 + j;
            if (row < p.m && col < p.n) out[(i64)row * p.n + col] = (T)sum[i][j];
        }
#endif
}
