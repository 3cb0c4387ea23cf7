// Products by Hopper's own instructions (wgmma): f16, bf16, f32 operands rounded to tf32, and f32 by thirds. Sums are f32.
#ifdef V_READY
#include "thirds.cuh"
#else
#include "matmul_wgmma.cuh"
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

#ifdef V_READY
extern "C" __global__ void __launch_bounds__(128 * (2 + GROUPS), 1) V_NAME(const Wgmma args) { compute_by_thirds<Turn, Store>(args.p); }
#else
extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Wgmma args) { compute<Turn, Store>(args.p); }
#endif
