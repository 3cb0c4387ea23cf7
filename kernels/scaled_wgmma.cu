// Products of floats of eight bits by Hopper's own instructions (wgmma), both with lines along k: scaled, with a bias, in f32 or bf16.
#include "hopper.cuh"

// An operand, of a byte each. Which float it is, the products are told.
struct Byte {
    u8 byte;
};
#define V_T Byte

struct E4M3 {};
struct E5M2 {};

// Adds the product of 64 rows of a and N columns of b to the sums, or makes it the sums.
#define PRODUCT_BYTES(N, A, B, ADDS, KIND, OF)                                                                              \
    template <bool ADDED>                                                                                                   \
    __device__ __forceinline__ void multiply_bytes(float (&d)[N / 2], u64 a, u64 b, KIND) {                                 \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, %" #ADDS ", 0;wgmma.mma_async.sync.aligned.m64n" #N "k32.f32." #OF \
                     ".e4m3 {" NAMES_##N "}, %" #A ", %" #B ", %yes, 1, 1;}"                                                \
                     : SUMS_##N                                                                                             \
                     : "l"(a), "l"(b), "n"(ADDED ? 1 : 0)                                                                   \
                     : "memory");                                                                                           \
    }
PRODUCT_BYTES(128, 64, 65, 66, E4M3, e4m3)
PRODUCT_BYTES(128, 64, 65, 66, E5M2, e5m2)
PRODUCT_BYTES(256, 128, 129, 130, E4M3, e4m3)
PRODUCT_BYTES(256, 128, 129, 130, E5M2, e5m2)
template <bool A_K, bool B_K, int N>
__device__ void multiply(float (&)[N], u64, u64, Byte);

#include "matmul_wgmma.cuh"

// The argument. Boxes of a and b are of whole stages, those of the result 16 rows of 128 bytes. Of what is null nothing is asked.
struct Scaled {
    MatMul p;
    const float* scale_a;
    const float* scale_b;
    const float* bias;  // a number for each column
    u32 by_rows;        // whether there is a scale for each row of a and each column of b, or one
    u32 is_short;       // whether the result is of bf16; else it is of f32
    u32 wide;           // whether a is of e5m2; else it is of e4m3, as b is
    u32 fast;           // whether sums may be the tensor cores' alone
    TensorMap a, b, out;
};

// Has the tensor cores add up all stages. Their sums have fewer bits than f32.
template <typename Release, typename Next, typename Kind>
__device__ __forceinline__ void add_up(u32 stages, u64 from_a, u64 from_b, u32 full, u32& stage, u32& parity, float (&sum)[SUMS],
                                       const Release& release, const Next& next, Kind kind) {
#pragma unroll
    for (int j = 0; j < SUMS; j++) sum[j] = 0;
    u32 before = STAGES;
#pragma unroll 1
    for (; stages > 0; stages--) {
        barrier_wait(full + stage * 8, parity);
        settle(sum);
        products_begin();
        const u64 step = stage * (STAGE / 16);
#pragma unroll
        for (int s = 0; s < STEPS; s++) multiply_bytes<true>(sum, from_a + step + s * 2, from_b + step + s * 2, kind);
        products_commit();
        products_wait<1>();
        if (before < STAGES) release(before);
        before = stage;
        next();
    }
    products_wait<0>();
    if (before < STAGES) release(before);
    settle(sum);
}

// Adds up stages in f32: the tensor cores begin each anew, a half of its columns at a time. While this group adds, the other one multiplies.
template <typename Release, typename Next, typename Kind>
__device__ __forceinline__ void add_up_in_parts(u32 stages, u64 from_a, u64 from_b, u32 full, u32& stage, u32& parity, float (&sum)[SUMS],
                                                const Release& release, const Next& next, Kind kind) {
    constexpr int HALVES = 2, EACH = SUMS / HALVES;
    float some[EACH];
#pragma unroll
    for (int j = 0; j < SUMS; j++) sum[j] = 0;
#pragma unroll 1
    for (; stages > 0; stages--) {
        barrier_wait(full + stage * 8, parity);
        const u64 step = stage * (STAGE / 16);
#pragma unroll
        for (int h = 0; h < HALVES; h++) {
            settle(some);
            products_begin();
#pragma unroll
            for (int s = 0; s < STEPS; s++) {
                const u64 a = from_a + step + s * 2, b = from_b + step + h * (BYTES_B / HALVES / 16) + s * 2;
                if (s == 0)
                    multiply_bytes<false>(some, a, b, kind);
                else
                    multiply_bytes<true>(some, a, b, kind);
            }
            products_commit();
            products_wait<0>();
            settle(some);
            if (h == HALVES - 1) release(stage);
#pragma unroll
            for (int j = 0; j < EACH; j++) sum[h * EACH + j] = __fadd_rn(sum[h * EACH + j], some[j]);
        }
        next();
    }
}

// A tile that is this block's turn, and its part of k.
struct Turn : Part {
    static constexpr bool MULTIPLIES = true;

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

    // The products of so many stages.
    template <typename Release, typename Next>
    __device__ __forceinline__ void multiply(u32 stages, u64 from_a, u64 from_b, u32 full, u32& stage, u32& parity, float (&sum)[SUMS],
                                             const Release& release, const Next& next) const {
        const Scaled* const all = argument<Scaled>();
#define ADD_UP(HOW, KIND) HOW(stages, from_a, from_b, full, stage, parity, sum, release, next, KIND())
        if (all->fast) {
            if (all->wide)
                ADD_UP(add_up, E5M2);
            else
                ADD_UP(add_up, E4M3);
        } else {
            if (all->wide)
                ADD_UP(add_up_in_parts, E5M2);
            else
                ADD_UP(add_up_in_parts, E4M3);
        }
#undef ADD_UP
    }
};

__device__ __forceinline__ void write16(u32 to, float4 v) {
    asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(to), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
}
__device__ __forceinline__ float2 read8(u32 from) {
    float2 v;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(from) : "memory");
    return v;
}

struct Store {
    const MatMul& p;

    __device__ __forceinline__ Store(const MatMul& p) : p(p) {}

    // Rows have an even number of elements, so that neighbours are there or not together.
    __device__ __forceinline__ void operator()(const Turn& at, u32 slice, u32 row, u32 lane, float (&sum)[PARTS][SUMS]) const {
        static_assert(PARTS == 1, "");
        const Scaled* const all = argument<Scaled>();
        const float *const scale_a = all->scale_a, *const scale_b = all->scale_b, *const bias = all->bias;
        const u32 by_rows = all->by_rows, is_short = all->is_short;
        // One scale for all is read by every row and column. What lies outside of the result is not stored, whatever it is.
        const u32 upper = row + lane / 4;
        const float above = __ldg(scale_a + by_rows * min(upper, p.m - 1)), below = __ldg(scale_a + by_rows * min(upper + 8, p.m - 1));
        // What columns are multiplied by, and what is added, lies in the slice until the sums do. Adding -0 changes nothing.
        float4 factors[BN / 128], summands[BN / 128];
#pragma unroll
        for (int i = 0; i < BN / 128; i++) {
            const u32 col = min(at.col + i * 128 + lane * 4, p.n - 4);
            const float one = __ldg(scale_b);
            factors[i] = by_rows ? __ldg((const float4*)(scale_b + col)) : make_float4(one, one, one, one);
            summands[i] = bias ? __ldg((const float4*)(bias + col)) : make_float4(-0.f, -0.f, -0.f, -0.f);
        }
        if (lane == 0) taken<0>();
        __syncwarp();
#pragma unroll
        for (int i = 0; i < BN / 128; i++) {
            const u32 to = slice + i * 512 + lane * 16;
            write16(to, factors[i]);
            write16(to + BN * 4, summands[i]);
        }
        __syncwarp();
#pragma unroll
        for (int j = 0; j < SUMS; j += 4) {
            const u32 from = slice + j * 8 + lane % 4 * 8;
            const float2 right = read8(from), added = read8(from + BN * 4);
            float* const d = sum[0] + j;
            d[0] = __fadd_rn(__fmul_rn(__fmul_rn(d[0], above), right.x), added.x);
            d[1] = __fadd_rn(__fmul_rn(__fmul_rn(d[1], above), right.y), added.y);
            d[2] = __fadd_rn(__fmul_rn(__fmul_rn(d[2], below), right.x), added.x);
            d[3] = __fadd_rn(__fmul_rn(__fmul_rn(d[3], below), right.y), added.y);
        }
        const TensorMap* const out = &all->out;
        if (is_short)
            store_bare<bf16>(out, p.m, slice, row, at.col, 0, lane, sum);
        else
            store_bare<float>(out, p.m, slice, row, at.col, 0, lane, sum);
    }
};

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Scaled args) { compute<Turn, Store>(args.p); }
