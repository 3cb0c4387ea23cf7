// What products by Hopper's own instructions (wgmma) share: f16, bf16, and f32 operands rounded to tf32. Sums are f32.
//
// One thread has the copy engine bring stages of both operands, a ring of them. Two groups of four warps multiply, each its rows of
// the tile, straight from shared memory. A block takes tile after tile; stages of the next come while sums are stored.
//
// tf32 in forms other than kk: see held.cuh.
#pragma once
#include "held.cuh"
#include "hopper.cuh"
#include "matmul.cuh"

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
constexpr bool A_K = V_A_K, B_K = V_B_K;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
constexpr int BK = 128 / sizeof(T), STEPS = 4;
constexpr int GROUPS = 2, WARPS = 4 * GROUPS;
// The threads hold the operand whose lines do not run along k. Where that is b, sums are those of the result turned.
constexpr bool HELD = IsTf32<T>::value && !(A_K && B_K), TURNED = HELD && A_K;
constexpr int ROWS = TURNED ? BN : BM, COLUMNS = TURNED ? BM : BN;  // of the sums
constexpr int PARTS = ROWS / (64 * GROUPS);                        // of 64 rows, of each group
constexpr int SUMS = COLUMNS / 2;
constexpr u32 BYTES_A = BM * 128, BYTES_B = BN * 128, STAGE = BYTES_A + BYTES_B;
constexpr u32 SLICE = 4096;  // where a warp's sums are turned into rows
static_assert(ROWS % (64 * GROUPS) == 0 && COLUMNS % 64 == 0, "");
static_assert(!HELD || (PARTS == 1 && A_K != B_K), "one operand is held");

// A part of a tile that is this block's turn: how much of k, and which of the tile's parts it is.
struct Part {
    // Whether the kernel adds up products its own way.
    static constexpr bool MULTIPLIES = false;

    u32 k_begin, k_end, split;
    u32 parts;  // of the tile; 0 where the block has no turn

    // Where there are fewer tiles than blocks, so that all blocks have the same depth to compute: the first `tiles` blocks take the first `k_part` of each
    // tile, the next ones the second, as often as there are so many blocks. What is left of each tile goes to the others, to each whole ones as long as
    // its depth lasts, and the last tiles in slices. (Osama and others, "Stream-K", 2023, but that blocks that run together are at the same places of k.)
    __device__ __forceinline__ u32 share(u32 k, u32 each, u32 tiles, u32 round) {
        const u32 block = blockIdx.x, whole = k / each, left = k - whole * each;
        split = block / tiles;
        k_begin = split * each;
        k_end = k_begin + each;
        parts = 0;
        const u32 others = gridDim.x - whole * tiles, mine = block - whole * tiles;
        const u32 rounds = left > 0 ? each / left : 0;
        const u32 apart = left > 0 && rounds * others < tiles ? tiles - rounds * others : 0;
        u32 slices = left > 0 ? 1 : 0, depth = left;
        if (apart > 0) {
            depth = (left + others / apart * BK - 1) / (others / apart * BK) * BK;
            slices = (left + depth - 1) / depth;
        }
        if (split < whole) {
            u32 id = block - split * tiles;
            if (round == 0) parts = whole + (id < tiles - apart ? (left > 0 ? 1 : 0) : slices);
            return id;
        }
        u32 id = mine + round * others;
        split = whole;
        k_begin = whole * each;
        k_end = k;
        if (round < rounds) {
            if (id < tiles) parts = whole + 1;
            return id;
        }
        id = mine / slices;
        split += mine - id * slices;
        k_begin += (mine - id * slices) * depth;
        k_end = min(k_begin + depth, k);
        if (id < apart) parts = whole + slices;
        return tiles - apart + id;
    }

    // How often each block has a turn where it shares tiles so.
    static __device__ __forceinline__ u32 rounds(u32 k, u32 each) {
        const u32 left = k % each;
        return left > 0 ? each / left + 1 : 1;
    }
};

// Where the tile `id` of a product lies. Blocks that run together share rows and columns of the operands, as in `Place`.
__device__ __forceinline__ void place(u32 id, u32 tiles_m, u32 tiles_n, u32& tile_m, u32& tile_n) {
    constexpr u32 group = 8;
    u32 first = 0;
    if (tiles_m > group) {
        u32 band = id / (group * tiles_n);
        first = band * group;
        id -= first * tiles_n;
    }
    u32 height = min(group, tiles_m - first);
    tile_n = id / height;
    tile_m = first + id - tile_n * height;
}

// Brings a stage of `ROWS` rows of an operand.
template <bool LINES_K, int ROWS>
__device__ __forceinline__ void load(u32 to, const TensorMap* map, u32 barrier, u32 k, u32 row, u32 batch) {
    if (LINES_K) {
        bring(to, map, barrier, k, row, batch);
    } else {
        constexpr int WIDTH = 128 / sizeof(T);
#pragma unroll
        for (int i = 0; i < ROWS; i += WIDTH) bring(to + i * (BK * 128 / WIDTH), map, barrier, row + i, k, batch);
    }
}

// Adds the sums of blocks that share a tile, if this warp is the last to come with its own. Each leaves them in memory.
template <typename Arguments, typename Turn>
__device__ __forceinline__ bool joined(const Arguments& p, const Turn& at, u32 warp, u32 lane, float (&sum)[PARTS][SUMS]) {
    constexpr u64 EACH = 32 * PARTS * SUMS / 4, ALL = EACH * WARPS;
    float4* partial = (float4*)p.partials + (u64)at.tile * p.splits * ALL + warp * EACH + lane;
    float4* mine = partial + at.split * ALL;
#pragma unroll
    for (int i = 0; i < PARTS; i++)
#pragma unroll
        for (int j = 0; j < SUMS; j += 4)
            __stcg(mine + (i * SUMS + j) * 8, make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]));
    __threadfence();
    u32* const tickets = p.tickets + at.tile * WARPS;
    if (TURNED) {
        // Two warps store together.
        pair_sync(warp / 2);
        const bool is_last = lane == 0 && warp % 2 == 0 && atomicInc(tickets + warp, at.parts - 1) == at.parts - 1;
        if (!pair_any(warp / 2, is_last)) return false;
    } else {
        __syncwarp();
        u32 ticket = 0;
        if (lane == 0) ticket = atomicInc(tickets + warp, at.parts - 1);
        ticket = __shfl_sync(~0u, ticket, 0);
        if (ticket != at.parts - 1) return false;
    }
    __threadfence();
#pragma unroll
    for (int i = 0; i < PARTS; i++)
#pragma unroll
        for (int j = 0; j < SUMS; j++) sum[i][j] = 0;
#pragma unroll 1
    for (u32 s = 0; s < at.parts; s++, partial += ALL) {
#pragma unroll
        for (int i = 0; i < PARTS; i++)
#pragma unroll
            for (int j = 0; j < SUMS; j += 4) {
                // So many reads at a time as there are registers for.
                if (j % 32 == 0) __syncwarp();
                float4 x = __ldcg(partial + (i * SUMS + j) * 8);
                sum[i][j] = __fadd_rn(sum[i][j], x.x);
                sum[i][j + 1] = __fadd_rn(sum[i][j + 1], x.y);
                sum[i][j + 2] = __fadd_rn(sum[i][j + 2], x.z);
                sum[i][j + 3] = __fadd_rn(sum[i][j + 3], x.w);
            }
    }
    return true;
}

// The store alone, by the copy engine, of a result of `R`: half a slice is written while the other is read.
template <typename R = T>
__device__ __forceinline__ void store_bare(const TensorMap* out, u32 m, u32 slice, u32 row, u32 col, u32 batch, u32 lane,
                                           const float (&sum)[PARTS][SUMS]) {
    constexpr bool SHORT = Is16<R>::value;
    constexpr int WIDTH = 128 / (SHORT ? 2 : 4), FRAGMENTS = WIDTH / 8;
#pragma unroll
    for (int i = 0; i < PARTS; i++) {
        if (row + i * 64 >= m) break;
#pragma unroll
        for (int s = 0; s < BN / WIDTH; s++) {
            constexpr int COUNT = BN / WIDTH;
            u32 to = slice + (i * COUNT + s) % 2 * (SLICE / 2);
            if (lane == 0) {
                if (i == 0 && s == 0)
                    taken<0>();
                else
                    taken<1>();
            }
            __syncwarp();
            const float* d = sum[i] + s * FRAGMENTS * 4;
            if (SHORT) {
                u32 r = lane % 16, c = lane / 16;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j += 2, d += 8)
                    stmatrix(to + r * 128 + (((j + c) ^ (r % 8)) << 4), pack(R(), d[0], d[1]), pack(R(), d[2], d[3]),
                             pack(R(), d[4], d[5]), pack(R(), d[6], d[7]));
            } else {
                const u32 r = HELD ? held_row(lane) : lane / 4, c = lane % 4;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j++, d += 4) {
                    const u32 at = to + r * 128 + (((2 * j + c / 2) ^ r % 8) << 4) + c % 2 * 8;
                    write8(at, d[0], d[1]);
                    // The row next to it, or eight further down.
                    write8(HELD ? (at ^ 16) + 128 : at + 1024, d[2], d[3]);
                }
            }
            written();
            __syncwarp();
            // No condition on the column: what lies outside stays outside anyway, and the assembler of CUDA 12.9 makes of two
            // conditions code that leaves the row out.
            if (lane == 0) {
                take(out, to, col + s * WIDTH, row + i * 64, batch);
                if (HELD) take(out, to + 1024, col + s * WIDTH, row + i * 64 + 16, batch);
                taken_end();
            }
        }
    }
}

// Brings the stages of a turn.
template <typename Turn, typename Arguments>
__device__ __forceinline__ void bring_stages(const Arguments& p, const Turn& at, u32 stages, u32 full, u32 empty, u32& stage, u32& parity) {
    const u32 batch_a = at.batch_a(p), batch_b = at.batch_b(p);
#pragma unroll 1
    for (u32 k = at.k_begin; k < at.k_end; k += BK) {
        u32 to = stages + stage * STAGE, barrier = full + stage * 8;
        barrier_wait(empty + stage * 8, parity ^ 1);
        barrier_expect(barrier, STAGE);
        load<A_K, BM>(to, at.a(), barrier, k, at.row, batch_a);
        load<B_K, BN>(to + BYTES_A, at.b(), barrier, k, at.col, batch_b);
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
}

// The kernel. A `Turn` says what a block computes at its turn, and where that lies; `Store` what becomes of the sums.
template <typename Turn, typename Store, typename Arguments>
__device__ __forceinline__ void compute(const Arguments& p) {
    extern __shared__ __align__(1024) u8 memory[];
    // Uniform, as the compiler sees from the exchange.
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 stages = (shared_address(memory) + 1023) & ~1023u;
    const u32 slices = stages + STAGES * STAGE, full = slices + WARPS * SLICE, empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        ring_init(full, empty, STAGES, 1, WARPS);
        barriers_ready();
        Turn::prefetch_maps();
    }
    __syncthreads();

    const u32 turns = Turn::count(p);
    u32 stage = 0, parity = 0;
    auto next = [&]() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };

    if (warp < 4) {
        fewer_registers<40>();
        if (threadIdx.x == 0) {
#pragma unroll 1
            for (u32 turn = blockIdx.x; turn < turns; turn += gridDim.x) {
                Turn at(p, turn);
                if (at.parts == 0) continue;
                bring_stages(p, at, stages, full, empty, stage, parity);
            }
        }
    } else {
        more_registers<232>();
        const u32 group = warp / 4 - 1;
        const u32 slice = slices + (warp - 4) * SLICE;
        const Store store(p);
        // What is held, and where the other operand lies; or both operands.
        const HeldRows rows(stages + (TURNED ? BYTES_A : 0), warp - 4, lane);
        const u64 from_other = matrix<true>(stages + (TURNED ? 0 : BYTES_A), 0);
        constexpr u32 STEP_A = A_K ? 32 : 16 * 128, STEP_B = B_K ? 32 : 16 * 128;
        const u64 from_a = matrix<A_K>(stages + group * PARTS * 64 * 128, BK * 128);
        const u64 from_b = matrix<B_K>(stages + BYTES_A, BK * 128);
        auto release = [&](u32 stage) {
            if (lane == 0) barrier_arrive(empty + stage * 8);
        };
#pragma unroll 1
        for (u32 turn = blockIdx.x; turn < turns; turn += gridDim.x) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            Turn at(p, turn);
            if (at.parts == 0) continue;
            float sum[PARTS][SUMS];
            if constexpr (HELD) {
                rows.multiply<STAGES, STAGE>((at.k_end - at.k_begin + BK - 1) / BK, from_other, full, empty, stage, parity, sum[0]);
            } else if constexpr (Turn::MULTIPLIES) {
                static_assert(PARTS == 1, "");
                at.multiply((at.k_end - at.k_begin + BK - 1) / BK, from_a, from_b, full, stage, parity, sum[0], release, next);
            } else {
#pragma unroll
                for (int i = 0; i < PARTS; i++)
#pragma unroll
                    for (int j = 0; j < SUMS; j++) sum[i][j] = 0;
                u32 before = STAGES;
#pragma unroll 1
                for (u32 k = at.k_begin; k < at.k_end; k += BK) {
                    barrier_wait(full + stage * 8, parity);
#pragma unroll
                    for (int i = 0; i < PARTS; i++) settle(sum[i]);
                    products_begin();
                    const u64 step_a = from_a + stage * (STAGE / 16), step_b = from_b + stage * (STAGE / 16);
#pragma unroll
                    for (int s = 0; s < STEPS; s++)
#pragma unroll
                        for (int i = 0; i < PARTS; i++)
                            multiply<A_K, B_K>(sum[i], step_a + (i * 64 * 128 + s * STEP_A) / 16, step_b + s * STEP_B / 16, T());
                    products_commit();
                    products_wait<1>();
                    if (before < STAGES) release(before);
                    before = stage;
                    next();
                }
                products_wait<0>();
                if (before < STAGES) release(before);
#pragma unroll
                for (int i = 0; i < PARTS; i++) settle(sum[i]);
            }
            if (at.parts > 1 && !joined(p, at, warp - 4, lane, sum)) continue;
            if constexpr (TURNED) {
                store.turned(at, slice, at.col + group * 64 + warp % 4 / 2 * 32, warp - 4, lane, sum[0]);
            } else {
                const u32 own = HELD ? warp % 4 / 2 * 32 + warp % 2 * 8 : warp % 4 * 16;
                store(at, slice, at.row + group * PARTS * 64 + own, lane, sum);
            }
        }
        if (lane == 0) taken<0>();
    }
}
