// Products by Hopper's own instructions (wgmma): f16, bf16, f32 operands rounded to tf32, and f32 by thirds. Sums are f32.
#include "matmul_wgmma.cuh"
#ifdef V_READY
#include "thirds.cuh"
#endif

// The argument. Boxes of a and b are as `load` has it, those of the result
// 16 rows of 128 bytes.
struct Wgmma {
    MatMul p;
    TensorMap a, b, out;
};

// A tile that is this block's turn, and its part of k.
struct Turn : Part {
    u32 row, col, batch, tile;

    __device__ __forceinline__ Turn(const MatMul& p, u32 id) {
        u32 tiles = p.tiles_m * p.tiles_n;
        split = batch = 0;
        parts = p.splits;
        if (p.uneven) {
            id = share(p.k, p.k_part, tiles, id / gridDim.x);
        } else if (p.splits > 1) {
            u32 rest = id / p.splits;
            split = id - rest * p.splits;
            id = rest;
        }
        if (id >= tiles) {
            batch = id / tiles;
            id -= batch * tiles;
        }
        u32 tile_m, tile_n;
        place(id, p.tiles_m, p.tiles_n, tile_m, tile_n);
        if (!p.uneven) {
            k_begin = split * p.k_part;
            k_end = min(k_begin + p.k_part, p.k);
        }
        row = tile_m * BM;
        col = tile_n * BN;
        tile = (batch * p.tiles_m + tile_m) * p.tiles_n + tile_n;
    }

    // How many turns there are; each block has each so manieth of them as there are blocks. One axis of a batch at most.
    static __device__ __forceinline__ u32 count(const MatMul& p) {
        u32 turns = p.tiles_m * p.tiles_n * p.splits * p.batch_shape[0];
        if (p.uneven) {
            const u32 left = p.k % p.k_part;
            turns = gridDim.x * (left > 0 ? p.k_part / left + 1 : 1);
        }
        return turns;
    }
    static __device__ __forceinline__ void prefetch_maps() {
        prefetch(&argument<Wgmma>()->a);
        prefetch(&argument<Wgmma>()->b);
    }
    __device__ __forceinline__ const TensorMap* a() const { return &argument<Wgmma>()->a; }
    __device__ __forceinline__ const TensorMap* b() const { return &argument<Wgmma>()->b; }
    // Operands that are the same for the whole batch have a stride of zero there.
    __device__ __forceinline__ u32 batch_a(const MatMul& p) const { return p.a_batch[0] ? batch : 0; }
    __device__ __forceinline__ u32 batch_b(const MatMul& p) const { return p.b_batch[0] ? batch : 0; }
};

// How far below the warp's first row the `i`th of its sixteen is.
__device__ __forceinline__ u32 below(u32 i) { return HELD ? i + i / 8 * 8 : i; }

// Rows of 64 sums at a time, turned into rows in the warp's slice: `each(part, row, column)` of each sixteen rows, where the first of them is.
template <typename Each>
__device__ __forceinline__ void each_slice(u32 slice, u32 lane, const float (&sum)[PARTS][SUMS], Each each) {
    const u32 r = HELD ? held_row(lane) : lane / 4, c = lane % 4;
#pragma unroll 1
    for (u32 part = 0; part < PARTS * COLUMNS / 64; part++) {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < PARTS * COLUMNS / 64; i++) {
            if (part != i) continue;
            const float* d = sum[i / (COLUMNS / 64)] + i % (COLUMNS / 64) * 32;
#pragma unroll
            for (int j = 0; j < 8; j++, d += 4) {
                const u32 at = slice + r * 256 + (((2 * j + c / 2) ^ (r % 4 * 2)) << 4) + c % 2 * 8;
                write8(at, d[0], d[1]);
                write8(HELD ? (at ^ 32) + 256 : at + 2048, d[2], d[3]);
            }
        }
        __syncwarp();
        each(part / (COLUMNS / 64) * 64, part % (COLUMNS / 64) * 64);
    }
}

// With what is spliced in at the mark, of which there is one.
__device__ __forceinline__ void store_marked(const MatMul& p, u32 slice, u32 row, u32 col, u32 batch, u32 lane,
                                             const float (&sum)[PARTS][SUMS]) {
    using Sums = ColumnSums<BM, BM / 16, 16>;
    each_slice(slice, lane, sum, [&](u32 down, u32 right) {
        const u32 to_col = col + right + lane % 16 * 4;
        Sums::begin();
#pragma unroll 1
        for (u32 i = lane / 16; i < 16; i += 8) {
            float4 v[4];
#pragma unroll
            for (u32 j = 0; j < 4; j++) v[j] = read16(slice + (i + 2 * j) * 256 + ((lane % 16 ^ ((i + 2 * j) % 4 * 2)) << 4));
            const u32 to_row = row + down + below(i);
            if (to_row < p.m && to_col < p.n) finish_rows<T>(p, batch, to_row, to_col, v);
        }
        const u32 first = row + down;
        Sums::end(batch, HELD ? first / 32 * 2 + first / 8 % 2 : first / 16, to_col);
    });
}

// The store alone, of rows that are no multiples of 16 bytes: each as whole as its address lets it be.
__device__ __forceinline__ void store_lines(const MatMul& p, u32 slice, u32 row, u32 col, u32 batch, u32 lane, const float (&sum)[PARTS][SUMS]) {
    each_slice(slice, lane, sum, [&](u32 down, u32 right) {
        const u32 first = col + right;
        if (first >= p.n) return;
        const u32 count = min(p.n - first, 64);
#pragma unroll 4
        for (u32 i = 0; i < 16; i++) {
            const u32 to_row = row + down + below(i);
            if (to_row >= p.m) continue;
            const i64 at = ((i64)batch * p.m + to_row) * p.n + first;
            auto element = [&](u32 x) { return read4(slice + i * 256 + ((x / 4 ^ i % 4 * 2) << 4) + x % 4 * 4); };
            if constexpr (HALF) {
                // Two neighbours that begin at a multiple of 4 bytes. Where the row does not, the last thread has its first element, and its last.
                u16* const to = (u16*)p.out + at;
                const u32 odd = (u32)(u64)to >> 1 & 1;
                const u32 x = 2 * lane + odd, y = x + 1 & 63;
                const u32 both = pack(T(), element(x), element(y));
                if (y > x && y < count) {
                    *(u32*)(to + x) = both;
                } else {
                    if (x < count) to[x] = (u16)both;
                    if (y < count) to[y] = (u16)(both >> 16);
                }
            } else {
                float* const to = (float*)p.out + at;
#pragma unroll
                for (u32 x = lane; x < 64; x += 32)
                    if (x < count) to[x] = element(x);
            }
        }
    });
}

struct Store {
    const MatMul& p;
    const u32 flags;

    __device__ __forceinline__ Store(const MatMul& p) : p(p), flags(p.flags) {}

    __device__ __forceinline__ void operator()(const Turn& at, u32 slice, u32 row, u32 lane, const float (&sum)[PARTS][SUMS]) const {
        if (flags & BOXES)
            store_bare(&argument<Wgmma>()->out, p.m, slice, row, at.col, at.batch, lane, sum);
        else if (flags & BARE)
            store_lines(p, slice, row, at.col, at.batch, lane, sum);
        else
            store_marked(p, slice, row, at.col, at.batch, lane, sum);
    }

    // The same of sums of the result turned. The warps of a pair have all of 32 columns together, eight and eight in turns, and store them together: 32 rows at
    // a time, in one half of the pair's slices while the other is read.
    __device__ __forceinline__ void turned(const Turn& at, u32 slice, u32 col, u32 warp, u32 lane, const float (&sum)[SUMS]) const {
        constexpr u32 EACH = 32 * 128;
        const u32 pair = warp / 2, own = held_row(lane), c = lane % 4;
        const u32 chunk = own / 8 * 4 + warp % 2 * 2 + own % 8 / 4;
        slice -= warp % 2 * SLICE;
        auto dump = [&](u32 to, const float* d) {
#pragma unroll
            for (u32 j = 0; j < 4; j++, d += 4)
#pragma unroll
                for (u32 e = 0; e < 2; e++) {
                    const u32 r = 8 * j + 2 * c + e;
                    write8(to + r * 128 + ((chunk ^ r % 8) << 4) + own % 4 * 4, d[e], d[e + 2]);
                }
        };
        if (flags & BOXES) {
            const bool leads = warp % 2 == 0 && lane == 0;
#pragma unroll
            for (u32 s = 0; s < BM / 32; s++) {
                if (at.row + s * 32 >= p.m) break;
                const u32 to = slice + s % 2 * EACH;
                if (leads) {
                    if (s == 0)
                        taken<0>();
                    else
                        taken<1>();
                }
                pair_sync(pair);
                dump(to, sum + s * 16);
                written();
                pair_sync(pair);
                if (leads) {
                    take(&argument<Wgmma>()->out, to, col, at.row + s * 32, at.batch);
                    taken_end();
                }
            }
            return;
        }
        using Sums = ColumnSums<BM, 2, 24>;
        Sums::begin();
#pragma unroll 1
        for (u32 s = 0; s < BM / 32; s++) {
            const u32 from = slice + s % 2 * EACH;
#pragma unroll
            for (u32 i = 0; i < BM / 32; i++)
                if (s == i) dump(from, sum + i * 16);
            pair_sync(pair);
            const u32 row = at.row + s * 32 + warp % 2 * 16;
            if (flags & BARE) {
#pragma unroll 4
                for (u32 i = 0; i < 16; i++) {
                    const u32 r = warp % 2 * 16 + i;
                    const float x = read4(from + r * 128 + ((lane / 4 ^ r % 8) << 4) + lane % 4 * 4);
                    if (row + i < p.m && col + lane < p.n) ((float*)p.out)[((i64)at.batch * p.m + row + i) * p.n + col + lane] = x;
                }
                continue;
            }
            const u32 first = lane / 16 * 8 + lane / 8 % 2, to_row = row + first, to_col = col + lane % 8 * 4;
            float4 v[4];
#pragma unroll
            for (u32 j = 0; j < 4; j++) {
                const u32 r = warp % 2 * 16 + first + 2 * j;
                v[j] = read16(from + r * 128 + ((lane % 8 ^ r % 8) << 4));
            }
            if (to_row < p.m && to_col < p.n) finish_rows<T>(p, at.batch, to_row, to_col, v);
        }
        Sums::end(at.batch, at.row / BM * 2 + warp % 2, col + lane % 8 * 4);
    }
};

#ifndef V_READY
extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Wgmma args) { compute<Turn, Store>(args.p); }
#else
// An element of the product, number by number.
__device__ __forceinline__ float exact(const MatMul& p, u32 batch, u32 row, u32 col) {
    if (row >= p.m || col >= p.n) return 0;
    const float* a = (const float*)p.a + (i64)batch * p.a_batch[0] + (i64)row * p.a_row;
    const float* b = (const float*)p.b + (i64)batch * p.b_batch[0] + (i64)col * p.b_col;
    float sum = 0;
#pragma unroll 4
    for (u32 k = 0; k < p.k; k++) sum = __fmaf_rn(a[k * p.a_k], b[k * p.b_k], sum);
    return sum;
}

constexpr int READY = V_READY;
using Rings = Thirds<A_K, B_K, BM, BN, BN, STAGES, READY, WARPS>;
static_assert(!HALF && PARTS == 1 && Rings::STAGE == STAGE, "");

// Each of the block's turns, and how many stages it has.
template <typename Serve>
__device__ __forceinline__ void each_turn(const MatMul& p, Serve serve) {
    const u32 turns = Turn::count(p);
#pragma unroll 1
    for (u32 turn = blockIdx.x; turn < turns; turn += gridDim.x) {
        Turn at(p, turn);
        if (at.parts > 0) serve(at, (at.k_end - at.k_begin + BK - 1) / BK);
    }
}

// As `compute`.
extern "C" __global__ void __launch_bounds__(128 * (2 + GROUPS), 1) V_NAME(const Wgmma args) {
    const MatMul& p = args.p;
    extern __shared__ __align__(1024) u8 memory[];
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 stages = (shared_address(memory) + 1023) & ~1023u, ready = stages + STAGES * STAGE;
    const u32 slices = ready + Rings::ALL_READY, full = slices + WARPS * SLICE, empty = full + STAGES * 8;
    Rings rings(stages, full, ready, empty + STAGES * 8);
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full + s * 8, 1);
            barrier_init(empty + s * 8, SPLITTERS + WARPS);
        }
        barriers_ready();
        Turn::prefetch_maps();
    }
    __syncthreads();

    if (warp < 4) {
        fewer_registers<24>();
        if (threadIdx.x != 0) return;
        each_turn(p, [&](const Turn& at, u32) { bring_stages(p, at, stages, full, empty, rings.stage, rings.parity); });
    } else if (warp < 4 + SPLITTERS) {
        fewer_registers<72>();
        each_turn(p, [&](const Turn&, u32 count) { rings.split_stages(count, threadIdx.x - 128); });
    } else {
        more_registers<208>();
        const u32 mine = warp - 4 - SPLITTERS, slice = slices + mine * SLICE, own = mine / 4 * 64 + mine % 4 * 16;
        const Store store(p);
        each_turn(p, [&](const Turn& at, u32 count) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            float sum[1][SUMS];
            rings.multiply(count, own + lane / 4, 0, sum[0]);
            if (at.parts > 1 && !joined(p, at, mine, lane, sum)) return;
            const u32 row = at.row + own;
            mend(sum[0], lane, [&](u32 r, u32 c) { return exact(p, at.batch, row + r, at.col + c); });
            store(at, slice, row, lane, sum);
        });
        if (lane == 0) taken<0>();
    }
}
#endif
