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

// With what is spliced in at the mark, of which there is one: rows of 64 sums at a time.
__device__ __forceinline__ void store_marked(const MatMul& p, u32 slice, u32 row, u32 col, u32 batch, u32 lane,
                                             const float (&sum)[PARTS][SUMS]) {
    u32 r = lane / 4, c = lane % 4;
#pragma unroll 1
    for (u32 part = 0; part < PARTS * BN / 64; part++) {
        __syncwarp();
#pragma unroll
        for (int i = 0; i < PARTS * BN / 64; i++) {
            if (part != i) continue;
            const float* d = sum[i / (BN / 64)] + i % (BN / 64) * 32;
#pragma unroll
            for (int j = 0; j < 8; j++, d += 4) {
                u32 at = slice + r * 256 + (((2 * j + c / 2) ^ (r % 4 * 2)) << 4) + c % 2 * 8;
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(d[0]), "f"(d[1]) : "memory");
                asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at + 2048), "f"(d[2]), "f"(d[3]) : "memory");
            }
        }
        __syncwarp();
        u32 to_col = col + part % (BN / 64) * 64 + lane % 16 * 4;
#pragma unroll 1
        for (u32 i = lane / 16; i < 16; i += 8) {
            float4 v[4];
#pragma unroll
            for (u32 j = 0; j < 4; j++) v[j] = read16(slice + (i + 2 * j) * 256 + ((lane % 16 ^ ((i + 2 * j) % 4 * 2)) << 4));
            u32 to_row = row + part / (BN / 64) * 64 + i;
            if (to_row < p.m && to_col < p.n) finish_rows<T>(p, batch, to_row, to_col, v);
        }
    }
}

struct Store {
    const MatMul& p;
    const bool bare;

    __device__ __forceinline__ Store(const MatMul& p) : p(p), bare(p.flags & BARE) {}

    __device__ __forceinline__ void operator()(const Turn& at, u32 slice, u32 row, u32 lane, const float (&sum)[PARTS][SUMS]) const {
        if (bare)
            store_bare(&argument<Wgmma>()->out, p.m, slice, row, at.col, at.batch, lane, sum);
        else
            store_marked(p, slice, row, at.col, at.batch, lane, sum);
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
