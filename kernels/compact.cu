// Positions of what holds in a mask. A block has a tile, of which it is known how many hold up to its end.
#include "common.cuh"

constexpr u32 THREADS = 256, EACH = 8, TILE = THREADS * EACH, WARPS = THREADS / 32;

struct Compact {
    i64* out;
    const u8* mask;
    const i64* ends;
    u64 count;   // of the mask
    u64 found;   // of the result
    u64 first;   // 1 where the mask begins at position 1, and 0 is found in any case
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Compact p) {
    __shared__ u32 sums[WARPS];
    __shared__ u16 places[TILE];
    u64 start = (u64)blockIdx.x * TILE, mine = start + threadIdx.x * EACH;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // A bit for each element that holds.
    u32 holds = 0;
    if (mine + EACH <= p.count && (u64)p.mask % 8 == 0) {
        u64 eight = *(const u64*)(p.mask + mine);
#pragma unroll
        for (u32 i = 0; i < EACH; i++) holds |= (u32)((eight >> (8 * i) & 0xff) != 0) << i;
    } else {
        for (u32 i = 0; i < EACH && mine + i < p.count; i++) holds |= (u32)(p.mask[mine + i] != 0) << i;
    }
    u32 own = __popc(holds), sum = own;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = __shfl_up_sync(~0u, sum, by);
        if (lane >= by) sum += other;
    }
    if (lane == 31) sums[warp] = sum;
    __syncthreads();
    u32 to = sum - own, all = 0;
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) {
        if (w < warp) to += sums[w];
        all += sums[w];
    }
#pragma unroll
    for (u32 i = 0; i < EACH; i++)
        if (holds >> i & 1) places[to++] = (u16)(threadIdx.x * EACH + i);
    __syncthreads();
    u64 before = p.first + (blockIdx.x ? (u64)p.ends[blockIdx.x - 1] : 0);
    if (p.first && blockIdx.x == 0 && threadIdx.x == 0) p.out[0] = 0;
    for (u32 i = threadIdx.x; i < all; i += THREADS)
        if (before + i < p.found) p.out[before + i] = (i64)(start + places[i] + p.first);
}
