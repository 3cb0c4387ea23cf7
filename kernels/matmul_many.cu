// Several products of one depth that wait for nothing of each other, by Hopper's own instructions (wgmma), as one launch: their tiles are shared out
// among the blocks as those of one product are.
#include "matmul_wgmma.cuh"

constexpr int MANY = 8;  // of them

// The argument. Boxes as in `Wgmma`; nothing but the store of the sums follows.
struct Several {
    float* partials;
    u32* tickets;
    u32 k;
    u32 count;  // of the products
    u32 tiles;  // of all of them
    u32 whole;  // in how many rounds each block takes a whole tile, before the rest is shared out
    u32 splits, k_part, uneven;  // of the rest, as in `MatMul`
    u32 tiles_m[MANY], tiles_n[MANY];
    u32 first[MANY];  // tile of each product
    TensorMap a[MANY], b[MANY], out[MANY];
};

// A tile that is this block's turn, and its part of k.
struct Turn : Part {
    u32 row, col, tile, product;
    static constexpr u32 batch = 0;

    __device__ __forceinline__ Turn(const Several& p, u32 id) {
        const u32 whole = p.whole * gridDim.x;
        split = 0;
        k_begin = 0;
        k_end = p.k;
        parts = 1;
        if (id >= whole) {
            id -= whole;
            if (p.uneven) {
                id = share(p.k, p.k_part, p.tiles - whole, id / gridDim.x);
            } else {
                parts = p.splits;
                u32 rest = id / p.splits;
                split = id - rest * p.splits;
                id = rest;
                k_begin = split * p.k_part;
                k_end = min(k_begin + p.k_part, p.k);
            }
            tile = id;
            id += whole;
        } else {
            tile = 0;
        }
        product = 0;
#pragma unroll
        for (u32 i = 1; i < MANY; i++)
            if (i < p.count && id >= p.first[i]) product = i;
        u32 tile_m, tile_n;
        place(id - argument<Several>()->first[product], argument<Several>()->tiles_m[product], argument<Several>()->tiles_n[product], tile_m, tile_n);
        row = tile_m * BM;
        col = tile_n * BN;
    }

    static __device__ __forceinline__ u32 count(const Several& p) {
        const u32 whole = p.whole * gridDim.x;
        if (p.uneven) return whole + gridDim.x * rounds(p.k, p.k_part);
        return whole + (p.tiles - whole) * p.splits;
    }
    static __device__ __forceinline__ void prefetch_maps() {
        prefetch(argument<Several>()->a);
        prefetch(argument<Several>()->b);
    }
    __device__ __forceinline__ const TensorMap* a() const { return argument<Several>()->a + product; }
    __device__ __forceinline__ const TensorMap* b() const { return argument<Several>()->b + product; }
    __device__ __forceinline__ u32 batch_a(const Several&) const { return 0; }
    __device__ __forceinline__ u32 batch_b(const Several&) const { return 0; }
};

struct Store {
    __device__ __forceinline__ Store(const Several&) {}

    __device__ __forceinline__ void operator()(const Turn& at, u32 slice, u32 row, u32 lane, const float (&sum)[PARTS][SUMS]) const {
        store_bare(argument<Several>()->out + at.product, ~0u, slice, row, at.col, 0, lane, sum);
    }
};

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Several args) { compute<Turn, Store>(args); }
