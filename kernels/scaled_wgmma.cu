// Products of floats of eight bits by Hopper's own instructions (wgmma), both with lines along k: scaled, with a bias, in f32, f16 or bf16.
#include "hopper.cuh"

// Both operands, of a byte each; V_A and V_B are what the instruction calls them.
struct Pair {
    u8 byte;
};
#define V_T Pair
constexpr bool PROMOTED = V_PROMOTED;

// Adds the product of 64 rows of a and N columns of b to the sums, or makes it the sums.
#define PRODUCT_NARROW(N, A, B, ADDS)                                                                                       \
    template <bool ADDED>                                                                                                   \
    __device__ __forceinline__ void multiply_to(float (&d)[N / 2], u64 a, u64 b, Pair) {                                    \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, %" #ADDS ", 0;wgmma.mma_async.sync.aligned.m64n" #N "k32.f32."     \
                     NAME(V_A) "." NAME(V_B) " {" NAMES_##N "}, %" #A ", %" #B ", %yes, 1, 1;}"                             \
                     : SUMS_##N                                                                                             \
                     : "l"(a), "l"(b), "n"(ADDED ? 1 : 0)                                                                   \
                     : "memory");                                                                                           \
    }                                                                                                                       \
    template <bool A_K, bool B_K>                                                                                           \
    __device__ __forceinline__ void multiply(float (&d)[N / 2], u64 a, u64 b, Pair) {                                       \
        static_assert(A_K && B_K, "lines run along k");                                                                     \
        multiply_to<true>(d, a, b, Pair());                                                                                 \
    }
PRODUCT_NARROW(128, 64, 65, 66)
PRODUCT_NARROW(192, 96, 97, 98)
PRODUCT_NARROW(256, 128, 129, 130)

#include "matmul_wgmma.cuh"

// What a result is of.
enum Results : u32 { OF_F32 = 0, OF_F16 = 1, OF_BF16 = 2 };

// The argument. Boxes of a and b are of whole stages, those of the result 16 rows of 128 bytes. Of what is null nothing is asked.
struct Scaled {
    MatMul p;
    const float* scale_a;
    const float* scale_b;
    const float* bias;  // a number for each column
    u32 by_rows;        // whether there is a scale for each row of a and each column of b, or one
    u32 result;
    TensorMap a, b, out;
};

// A tile that is this block's turn, and its part of k.
struct Turn : Part {
    u32 row, col, tile;

    __device__ __forceinline__ Turn(const MatMul& p, u32 id) {
        const u32 tiles = p.tiles_m * p.tiles_n;
        split = 0;
        parts = p.splits;
        if (p.uneven) {
            id = share(p.k, p.k_part, tiles, id / gridDim.x);
        } else if (p.splits > 1) {
            const u32 rest = id / p.splits;
            split = id - rest * p.splits;
            id = rest;
        }
        u32 tile_m, tile_n;
        place(id, p.tiles_m, p.tiles_n, tile_m, tile_n);
        if (!p.uneven) {
            k_begin = split * p.k_part;
            k_end = min(k_begin + p.k_part, p.k);
        }
        row = tile_m * BM;
        col = tile_n * BN;
        tile = tile_m * p.tiles_n + tile_n;
    }

    static __device__ __forceinline__ u32 count(const MatMul& p) {
        return p.uneven ? gridDim.x * rounds(p.k, p.k_part) : p.tiles_m * p.tiles_n * p.splits;
    }
    static __device__ __forceinline__ void prefetch_maps() {
        prefetch(&argument<Scaled>()->a);
        prefetch(&argument<Scaled>()->b);
    }
    __device__ __forceinline__ const TensorMap* a() const { return &argument<Scaled>()->a; }
    __device__ __forceinline__ const TensorMap* b() const { return &argument<Scaled>()->b; }
    __device__ __forceinline__ u32 batch_a(const MatMul&) const { return 0; }
    __device__ __forceinline__ u32 batch_b(const MatMul&) const { return 0; }
};

struct Store {
    const MatMul& p;

    __device__ __forceinline__ Store(const MatMul& p) : p(p) {}

    // Rows have an even number of elements, so that neighbours are there or not together.
    __device__ __forceinline__ void operator()(const Turn& at, u32 slice, u32 row, u32 lane, float (&sum)[PARTS][SUMS]) const {
        static_assert(PARTS == 1, "");
        const Scaled* const all = argument<Scaled>();
        const float *const scale_a = all->scale_a, *const scale_b = all->scale_b, *const bias = all->bias;
        const u32 by_rows = all->by_rows, result = all->result;
        const u32 upper = row + lane / 4, first = at.col + lane % 4 * 2;
        // One scale for all is read by every row and column.
        const float above = upper < p.m ? __ldg(scale_a + by_rows * upper) : 0;
        const float below = upper + 8 < p.m ? __ldg(scale_a + by_rows * (upper + 8)) : 0;
        const float one = by_rows ? 0 : __ldg(scale_b);
#pragma unroll
        for (int j = 0; j < SUMS; j += 4) {
            const u32 col = first + j * 2;
            float2 right = make_float2(one, one), added = make_float2(0, 0);
            if (col < p.n) {
                if (by_rows) right = __ldg((const float2*)(scale_b + col));
                if (bias) added = __ldg((const float2*)(bias + col));
            }
            float* const d = sum[0] + j;
            d[0] = __fadd_rn(__fmul_rn(__fmul_rn(d[0], above), right.x), added.x);
            d[1] = __fadd_rn(__fmul_rn(__fmul_rn(d[1], above), right.y), added.y);
            d[2] = __fadd_rn(__fmul_rn(__fmul_rn(d[2], below), right.x), added.x);
            d[3] = __fadd_rn(__fmul_rn(__fmul_rn(d[3], below), right.y), added.y);
        }
        const TensorMap* const out = &all->out;
        if (result == OF_BF16)
            store_bare<bf16>(out, p.m, slice, row, at.col, 0, lane, sum);
        else if (result == OF_F16)
            store_bare<f16>(out, p.m, slice, row, at.col, 0, lane, sum);
        else
            store_bare<float>(out, p.m, slice, row, at.col, 0, lane, sum);
    }
};

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Scaled args) { compute<Turn, Store>(args.p); }
