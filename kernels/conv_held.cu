// The gradient by the weight of convolutions in tf32, by Hopper's own instructions (wgmma), which take tf32 from shared memory with lines along k alone. The
// images' lines run along channels: threads hold them (`held.cuh`). The result's gradient has places innermost, those of all images one after the other.
//
// The product that is computed is that of `conv_tiles.cuh` turned: its rows are the columns there.
#include "conv_tiles.cuh"
#include "held.cuh"

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
constexpr int GROUPS = 2, WARPS = 4 * GROUPS;
using Stages = Ring<tf32, BM, BN, STAGES, true, false, WARPS, true>;
static_assert(BN == 64 * GROUPS, "");

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Conv p) {
    extern __shared__ __align__(1024) u8 memory[];
    // Uniform, as the compiler sees from the exchange.
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 begin = (shared_address(memory) + 1023) & ~1023u;
    Stages ring(p, argument<Conv>(), begin, 0);

    if (warp < 4) {
        fewer_registers<40>();
        if (threadIdx.x == 0) ring.bring_all(p);
    } else {
        more_registers<232>();
        const u32 mine = warp - 4, own = held_row(lane);
        const HeldRows rows(begin + Stages::BYTES_A, mine, lane);
        const u64 others = matrix<true>(begin, 0);
        // Two columns of a thread are neighbours; of each 32 one warp has some, the next one the others.
        const u32 col = mine / 2 * 32 + (own / 8 * 4 + mine % 2 * 2 + own % 8 / 4) * 4 + own % 4;
#pragma unroll 1
        while (ring.turn < ring.turns) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            u32 tile, count = ring.take_tile(p, tile);
            float sum[BM / 2];
            rows.multiply<STAGES, Stages::STAGE>(count, others, ring.full, ring.empty, ring.stage, ring.parity, sum);
            float* part = p.parts + (u64)ring.slot(p, tile) * (BM * BN) + lane % 4 * 2 * BN + col;
#pragma unroll
            for (int j = 0; j < BM / 2; j += 4, part += 8 * BN) {
                __stcg((float2*)part, make_float2(sum[j], sum[j + 2]));
                __stcg((float2*)(part + BN), make_float2(sum[j + 1], sum[j + 3]));
            }
        }
    }
}
