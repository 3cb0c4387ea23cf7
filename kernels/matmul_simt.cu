// f32 products, exact: every multiplication and addition in f32, fused, in the order of k.
//
// Threads of a warp stand 4 by 8; each has TM by TN sums, in squares of 4 by 4 spread over the warp's tile so that its
// reads of 16 bytes meet no bank twice. Both operands lie in shared memory as they lie in memory: lines along k are read
// four k at a time, lines along m or n one k at a time, and no form has to be transposed.
#include "tile.cuh"

constexpr int BM = V_BM, BN = V_BN, BK = V_BK, TM = V_TM, TN = V_TN, STAGES = V_STAGES, SLICE = V_SLICE;
constexpr int GROUPS = V_GROUPS;
constexpr int WARPS_M = BM / (4 * TM), WARPS_N = BN / (8 * TN);
constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr bool A_K = V_A_K, B_K = V_B_K, A_ANY = V_A_ANY, B_ANY = V_B_ANY;
static_assert(BK == 16, "the exchange of chunks is worked out for lines of 64 bytes");

using TileA = Tile<float, A_K ? BM : BK, A_K ? BK : BM, A_K ? BY_FOURTH : PLAIN>;
using TileB = Tile<float, B_K ? BN : BK, B_K ? BK : BN, B_K ? BY_FOURTH : PLAIN>;
constexpr int STAGE = TileA::BYTES + TileB::BYTES;
constexpr int DEPTH = BK * GROUPS;  // from a stage to the group's next

extern "C" __global__ void __launch_bounds__(THREADS * GROUPS, V_BLOCKS) V_NAME(const __grid_constant__ MatMul p) {
    extern __shared__ __align__(128) char memory[];
    u32 group = GROUPS == 1 ? 0 : threadIdx.x / THREADS, thread = threadIdx.x - group * THREADS;
    u32 base = shared_address(memory) + group * (STAGES * STAGE);
    Place at(p);
    u32 k_begin = at.k_begin + group * BK;
    using LoadA = Loader<float, TileA, A_K ? BM : BK, A_K ? BK : BM, A_K, A_ANY, THREADS>;
    using LoadB = Loader<float, TileB, B_K ? BN : BK, B_K ? BK : BN, B_K, B_ANY, THREADS>;
    LoadA a((const float*)p.a + at.a_offset, p.a_row, p.a_k, p.m, at.tile_m * BM, k_begin, thread, DEPTH);
    LoadB b((const float*)p.b + at.b_offset, p.b_col, p.b_k, p.n, at.tile_n * BN, k_begin, thread, DEPTH);

    u32 warp = thread / 32, lane = thread % 32;
    // Neighbouring lanes go down, so that a quarter of a warp reads two rows and four columns.
    u32 ty = (lane & 1) + lane / 16 * 2, tx = lane / 2 % 8;
    u32 row = warp / WARPS_N * (4 * TM) + ty * 4, col = warp % WARPS_N * (8 * TN) + tx * 4;

    // Rows (columns) of one thread have their chunks exchanged alike, and the exchange is an exclusive or.
    u32 own_a = A_K ? TileA::chunk(row, 0) : TileA::element(0, row);
    u32 own_b = TileA::BYTES + (B_K ? TileB::chunk(col, 0) : TileB::element(0, col));

    i32 left = max(0, (i32)(at.k_end - k_begin));
    i32 steps = (left + DEPTH - 1) / DEPTH;
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            a.copy(base + s * STAGE, left - s * DEPTH);
            b.copy(base + s * STAGE + TileA::BYTES, left - s * DEPTH);
        }
        copies_end_stage();
    }
    float sum[TM][TN] = {};
    u32 reading = 0, writing = STAGES - 1;
#pragma unroll 1
    for (i32 step = 0; step < steps; step++) {
        copies_wait<STAGES - 2>();
        group_sync<THREADS, GROUPS>(group);
        i32 next = step + STAGES - 1;
        if (next < steps) {
            a.copy(base + writing * STAGE, left - next * DEPTH);
            b.copy(base + writing * STAGE + TileA::BYTES, left - next * DEPTH);
        }
        copies_end_stage();
        u32 as = base + reading * STAGE + own_a, bs = base + reading * STAGE + own_b;
#pragma unroll V_UNROLL
        for (int k4 = 0; k4 < BK / 4; k4++) {
            float fb[4][TN];
#pragma unroll
            for (int j = 0; j < TN; j++) {
                if (B_K) {
                    float4 x = read16((bs ^ (k4 * 16 + j % 2 * 64)) + (j / 4 * 32 + j % 4 / 2 * 2) * 64);
                    fb[0][j] = x.x, fb[1][j] = x.y, fb[2][j] = x.z, fb[3][j] = x.w;
                } else if (j % 4 == 0) {
#pragma unroll
                    for (int k = 0; k < 4; k++) {
                        float4 x = read16(bs + ((k4 * 4 + k) * BN + j * 8) * 4);
                        fb[k][j] = x.x, fb[k][j + 1] = x.y, fb[k][j + 2] = x.z, fb[k][j + 3] = x.w;
                    }
                }
            }
#pragma unroll
            for (int i0 = 0; i0 < TM; i0 += 4) {
                float fa[4][4];
#pragma unroll
                for (int x = 0; x < 4; x++) {
                    // Along k: row i0 + x at four k. Along m: four rows at k = x.
                    float4 v = A_K ? read16((as ^ (k4 * 16 + (x + i0 / 4) % 2 * 64)) + (i0 / 4 * 16 + x / 2 * 2) * 64)
                                   : read16(as + ((k4 * 4 + x) * BM + i0 * 4) * 4);
                    if (A_K) {
                        fa[x][0] = v.x, fa[x][1] = v.y, fa[x][2] = v.z, fa[x][3] = v.w;
                    } else {
                        fa[0][x] = v.x, fa[1][x] = v.y, fa[2][x] = v.z, fa[3][x] = v.w;
                    }
                }
#pragma unroll
                for (int k = 0; k < 4; k++)
#pragma unroll
                    for (int i = 0; i < 4; i++)
#pragma unroll
                        for (int j = 0; j < TN; j++)
                            sum[i0 + i][j] = __fmaf_rn(fa[i][k], fb[k][j], sum[i0 + i][j]);
            }
        }
        reading = reading + 1 == STAGES ? 0 : reading + 1;
        writing = writing + 1 == STAGES ? 0 : writing + 1;
    }
    copies_wait<0>();

    float* stage = (float*)memory;
    store_tile<float, BM, BN, SLICE, THREADS * GROUPS, GROUPS>(p, at, stage, [&](u32 slice) {
        if (warp / WARPS_N * (4 * TM) / SLICE != slice) return;
#pragma unroll
        for (int i = 0; i < TM; i++)
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                u32 r = group * SLICE + row % SLICE + i / 4 * 16 + i % 4;
                *(float4*)(stage + r * (BN + 8) + col + j * 8) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            }
    });
}
