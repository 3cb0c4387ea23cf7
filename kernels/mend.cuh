// Sums of products that are added up again, number by number, where they are doubtful.
#pragma once
#include "common.cuh"

// `exact(row, col)` says what the doubtful ones are, from the warp's first row and column on, where there are such. Sums lie as those of four warps' products
// (`hopper.cuh`).
template <int COUNT, typename Doubtful, typename Exact>
__device__ __forceinline__ void mend(float (&sum)[COUNT], u32 lane, Doubtful is_doubtful, Exact exact) {
    bool is_any = false;
#pragma unroll
    for (int i = 0; i < COUNT; i++) is_any |= is_doubtful(sum[i]);
    if (!__any_sync(~0u, is_any)) return;
#pragma unroll 1
    for (u32 i = 0; i < COUNT; i++) {
        float x = 0;
#pragma unroll
        for (u32 j = 0; j < COUNT; j++)
            if (i == j) x = sum[j];
        if (!is_doubtful(x)) continue;
        x = exact(lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
#pragma unroll
        for (u32 j = 0; j < COUNT; j++)
            if (i == j) sum[j] = x;
    }
    __syncwarp();
}
