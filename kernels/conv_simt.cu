// Gradients of convolutions by the weight in f32, exact: every multiplication and addition in f32, fused, in the order of k. For capability
// 9.0, whose copy engine gathers the windows: see `conv_tiles.cuh`. For few filters, of which tensor cores would multiply as many that there are
// not.
//
// A warp has TM rows and all columns of a tile, a lane every 32nd column. So what it reads of the first operand is the same for all
// lanes, and what it reads of the second lies side by side.
#include "conv_tiles.cuh"

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
constexpr int WARPS = 8, TM = BM / WARPS, TN = BN / 32;
using Stages = Ring<float, BM, BN, STAGES, true, false, WARPS>;
static_assert(TM % 4 == 0 && BN % 32 == 0, "");

extern "C" __global__ void __launch_bounds__(384, 1) V_NAME(const Conv p) {
    extern __shared__ __align__(1024) u8 memory[];
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 begin = (shared_address(memory) + 1023) & ~1023u;
    Stages ring(p, argument<Conv>(), begin, 0);

    if (warp < 4) {
        fewer_registers<40>();
        if (threadIdx.x == 0) ring.bring_all(p);
    } else {
        more_registers<232>();
        const u32 own = (warp - 4) * TM;
#pragma unroll 1
        while (ring.turn < ring.turns) {
            u32 tile, count = ring.take_tile(p, tile);
            float sum[TM][TN] = {};
#pragma unroll 1
            for (; count > 0; count--) {
                barrier_wait(ring.full + ring.stage * 8, ring.parity);
                const u32 a = begin + ring.stage * Stages::STAGE, b = a + Stages::BYTES_A;
                // Lines run along rows and columns, 32 of each; chunks of 16 bytes are exchanged by the number of k.
                const u32 from_a = a + own / 32 * 4096, chunk_a = own % 32 / 4 * 16, chunk_b = lane / 4 * 16, in_b = lane % 4 * 4;
#pragma unroll 4
                for (u32 k = 0; k < 32; k++) {
                    const u32 turn = k % 8 * 16;
                    float x[TM], y[TN];
#pragma unroll
                    for (int i = 0; i < TM; i += 4) {
                        float4 v = read16(from_a + k * 128 + ((chunk_a + i * 4) ^ turn));
                        x[i] = v.x, x[i + 1] = v.y, x[i + 2] = v.z, x[i + 3] = v.w;
                    }
#pragma unroll
                    for (int j = 0; j < TN; j++) y[j] = read4(b + j * 4096 + k * 128 + (chunk_b ^ turn) + in_b);
#pragma unroll
                    for (int i = 0; i < TM; i++)
#pragma unroll
                        for (int j = 0; j < TN; j++) sum[i][j] = __fmaf_rn(x[i], y[j], sum[i][j]);
                }
                __syncwarp();
                if (lane == 0) barrier_arrive(ring.empty + ring.stage * 8);
                ring.next();
            }
            float* part = p.parts + (u64)ring.slot(p, tile) * (BM * BN) + own * BN + lane;
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < TN; j++) __stcg(part + i * BN + j * 32, sum[i][j]);
        }
    }
}
