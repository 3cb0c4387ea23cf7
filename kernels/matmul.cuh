// What all matrix products share: arguments, the order of tiles, splitting of k, what is done to a tile before the store.
#pragma once
#include "common.cuh"

constexpr int MAX_BATCH_RANK = 6;

// Which element type a pointer of the epilogue has.
enum Type : u32 { F32 = 0, F16 = 1, BF16 = 2, F64 = 3 };

enum Flags : u32 {
    BIAS = 1,       // a row vector is added
    RESIDUAL = 2,   // beta times a matrix is added, last
    RELU = 4,
    GELU = 8,       // x * Phi(x), by erf
    SECOND = 16,    // what the activation gets is stored too
    ROUND = 32,     // every step is rounded to the operands' type, as unfused operations are
    VECTOR = 64,    // rows of the results are aligned to 16 bytes
    PLAIN_STORE = 128,  // nothing but the store of the sums, in the operands' type
    OUT_TYPE = 8,   // from this bit on: two bits a type
    SECOND_TYPE = 10,
    BIAS_TYPE = 12,
    RESIDUAL_TYPE = 14,
};

// The one argument of every product's kernel; `crates/mg-kernels/src/cuda/library/matmul.rs` writes it. Strides are
// in elements. `hook` belongs to whoever splices code in at the marks "mg.epilogue".
struct MatMul {
    const void* a;
    const void* b;
    void* out;
    void* second;
    const void* bias;
    const void* residual;
    float* partials;
    u32* tickets;
    i64 a_row, a_k, b_k, b_col;
    i64 bias_col;
    i64 residual_batch, residual_row, residual_col;
    i64 a_batch[MAX_BATCH_RANK], b_batch[MAX_BATCH_RANK];
    u32 batch_shape[MAX_BATCH_RANK];
    u32 batch_rank;
    u32 m, n, k;
    u32 tiles_m, tiles_n;
    u32 splits;   // how many blocks share a tile
    u32 k_part;   // how much of k each of them takes, a multiple of the tile's depth
    u32 flags;
    float alpha, beta;
    u32 reserved;
    u64 hook[16];
};

// The tile, part of k and matrix of the batch that this block computes.
struct Place {
    u32 tile_m, tile_n, split, batch, k_begin, k_end;
    i64 a_offset, b_offset;

    // Blocks that run together share rows and columns of the operands: tiles go down a band of GROUP rows of tiles,
    // then one to the right.
    __device__ __forceinline__ Place(const MatMul& p) {
        constexpr u32 GROUP = 8;
        u32 id = blockIdx.x;
        split = id % p.splits;
        id /= p.splits;
        u32 tiles = p.tiles_m * p.tiles_n;
        batch = id / tiles;
        id -= batch * tiles;
        u32 band = id / (GROUP * p.tiles_n);
        u32 first = band * GROUP;
        u32 height = min(GROUP, p.tiles_m - first);
        u32 within = id - band * GROUP * p.tiles_n;
        tile_m = first + within % height;
        tile_n = within / height;
        k_begin = min(split * p.k_part, p.k);
        k_end = min(k_begin + p.k_part, p.k);
        a_offset = 0;
        b_offset = 0;
        u32 rest = batch;
#pragma unroll 1
        for (int axis = (int)p.batch_rank - 1; axis >= 0; axis--) {
            u32 size = p.batch_shape[axis];
            u32 i = rest % size;
            rest /= size;
            a_offset += (i64)i * p.a_batch[axis];
            b_offset += (i64)i * p.b_batch[axis];
        }
    }
};

__device__ __forceinline__ float load_as(const void* p, u32 type, i64 i) {
    if (type == F32) return ((const float*)p)[i];
    u16 bits = ((const u16*)p)[i];
    return type == F16 ? to_f32(f16{bits}) : to_f32(bf16{bits});
}

__device__ __forceinline__ void store_as(void* p, u32 type, i64 i, const float (&v)[4], u32 valid, bool vector) {
    if (type == F32) {
        float* to = (float*)p + i;
        if (vector) {
            *(float4*)to = make_float4(v[0], v[1], v[2], v[3]);
        } else {
            for (u32 j = 0; j < 4; j++)
                if (j < valid) to[j] = v[j];
        }
        return;
    }
    u16 h[4];
    for (int j = 0; j < 4; j++) h[j] = type == F16 ? to_f16(v[j]).bits : to_bf16(v[j]).bits;
    u16* to = (u16*)p + i;
    if (vector) {
        *(uint2*)to = make_uint2(h[0] | (u32)h[1] << 16, h[2] | (u32)h[3] << 16);
    } else {
        for (u32 j = 0; j < 4; j++)
            if (j < valid) to[j] = h[j];
    }
}

__device__ __forceinline__ u32 pack(f16, float low, float high) { return to_f16(low).bits | (u32)to_f16(high).bits << 16; }
template <typename T>
__device__ __forceinline__ u32 pack(T, float low, float high) { return to_bf16(low).bits | (u32)to_bf16(high).bits << 16; }

// Rounds to the operands' type.
__device__ __forceinline__ float round_as(f16, float x) { return to_f32(to_f16(x)); }
__device__ __forceinline__ float round_as(bf16, float x) { return to_f32(to_bf16(x)); }
template <typename T>
__device__ __forceinline__ float round_as(T, float x) { return x; }

// Takes four neighbouring sums of a row through the epilogue, out = act(alpha * sum + bias) + beta * residual, and
// stores them. Everything is rounded to nearest, nothing contracted.
//
// The mark is a comment in the PTX that names the registers of the four values, the matrix of the batch, the row and the
// first column (u32): code of the engine's own can be spliced in there as text.
template <typename T>
__device__ __forceinline__ void finish(const MatMul& p, u32 batch, u32 row, u32 col, float (&v)[4]) {
    u32 flags = p.flags;
    u32 valid = min(4u, p.n - col);
    bool round = Is16<T>::value && (flags & ROUND);
#pragma unroll
    for (int j = 0; j < 4; j++) {
        v[j] = __fmul_rn(v[j], p.alpha);
        if (round) v[j] = round_as(T(), v[j]);
    }
    if (flags & BIAS) {
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (j < valid) {
                v[j] = __fadd_rn(v[j], load_as(p.bias, flags >> BIAS_TYPE & 3, (i64)(col + j) * p.bias_col));
                if (round) v[j] = round_as(T(), v[j]);
            }
    }
    i64 at = ((i64)batch * p.m + row) * p.n + col;
    if (flags & SECOND) store_as(p.second, flags >> SECOND_TYPE & 3, at, v, valid, flags & VECTOR);
    if (flags & RELU) {
#pragma unroll
        for (int j = 0; j < 4; j++) v[j] = v[j] > 0.0f || v[j] != v[j] ? v[j] : 0.0f;
    }
    if (flags & GELU) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float half = __fmul_rn(v[j], 0.5f);
            v[j] = __fmul_rn(half, __fadd_rn(1.0f, erff(__fmul_rn(v[j], 0.70710678118654752f))));
            if (round) v[j] = round_as(T(), v[j]);
        }
    }
    if (flags & RESIDUAL) {
        i64 from = (i64)batch * p.residual_batch + (i64)row * p.residual_row;
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (j < valid) {
                float r = load_as(p.residual, flags >> RESIDUAL_TYPE & 3, from + (i64)(col + j) * p.residual_col);
                v[j] = __fadd_rn(v[j], __fmul_rn(p.beta, r));
            }
    }
    asm volatile("// mg.epilogue %0 %1 %2 %3 %4 %5 %6"
                 : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
                 : "r"(batch), "r"(row), "r"(col));
    if (p.out) store_as(p.out, flags >> OUT_TYPE & 3, at, v, valid, flags & VECTOR);
}

// The store alone, of a slice that lies within the result: sixteen bytes a thread.
template <typename T, int BN, int SLICE, int THREADS, int EACH>
__device__ __forceinline__ void store_plain(const MatMul& p, u32 batch, u32 row0, u32 col0, const float* stage) {
    constexpr int PARTS = BN / EACH, ROWS = THREADS / PARTS;
    static_assert(THREADS % PARTS == 0 && SLICE % ROWS == 0, "");
    u32 r = threadIdx.x / PARTS, c = threadIdx.x % PARTS * EACH;
    i64 to = ((i64)batch * p.m + row0 + r) * p.n + col0 + c;
    const float* from = stage + r * (BN + 8) + c;
#pragma unroll 4
    for (int i = 0; i < SLICE / ROWS; i++) {
        float4 low = *(const float4*)from;
        if (EACH == 4) {
            *(float4*)((float*)p.out + to) = low;
        } else {
            float4 high = *(const float4*)(from + 4);
            uint4 packed = make_uint4(pack(T(), low.x, low.y), pack(T(), low.z, low.w), pack(T(), high.x, high.y),
                                      pack(T(), high.z, high.w));
            *(uint4*)((u16*)p.out + to) = packed;
        }
        from += ROWS * (BN + 8);
        to += (i64)ROWS * p.n;
    }
}

// Adds up the sums of `splits` blocks, `SIZE` apart, in order, and puts the results where a slice of the tile stands.
template <int SIZE, int THREADS, int BATCH, int BN>
__device__ __forceinline__ void add_partials(const float4* partial, float* stage, int i0, u32 splits) {
    float4 sum[BATCH];
#pragma unroll
    for (int j = 0; j < BATCH; j++) sum[j] = __ldcg(partial + i0 + j * THREADS);
#pragma unroll 2
    for (u32 s = 1; s < splits; s++) {
        float4 next[BATCH];
#pragma unroll
        for (int j = 0; j < BATCH; j++) next[j] = __ldcg(partial + (u64)s * SIZE + i0 + j * THREADS);
#pragma unroll
        for (int j = 0; j < BATCH; j++) {
            sum[j].x = __fadd_rn(sum[j].x, next[j].x);
            sum[j].y = __fadd_rn(sum[j].y, next[j].y);
            sum[j].z = __fadd_rn(sum[j].z, next[j].z);
            sum[j].w = __fadd_rn(sum[j].w, next[j].w);
        }
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        int i = i0 + j * THREADS;
        *(float4*)(stage + i / (BN / 4) * (BN + 8) + i % (BN / 4) * 4) = sum[j];
    }
}

// Brings a tile of sums from registers to memory. `dump(slice)` writes the rows of one slice of `SLICE` rows to `stage`
// (row stride BN + 8: rows of one fragment fall into different banks). Where several blocks share a tile each leaves its
// sums in `partials`; the last to come (by ticket, which it leaves at zero) adds them in the order of k.
template <typename T, int BM, int BN, int SLICE, int THREADS, typename Dump>
__device__ __forceinline__ void store_tile(const MatMul& p, const Place& at, float* stage, Dump dump) {
    constexpr int ROW = BN + 8;
    constexpr int FOURS = SLICE * BN / 4;
    constexpr int BATCH = FOURS / THREADS < 4 ? FOURS / THREADS : 4;
    static_assert(FOURS % (THREADS * BATCH) == 0, "");
    u32 row0 = at.tile_m * BM, col0 = at.tile_n * BN;
    u32 tile = (at.batch * p.tiles_m + at.tile_m) * p.tiles_n + at.tile_n;
    float4* partial = (float4*)p.partials + (u64)tile * p.splits * (BM * BN / 4);
    bool adding = false;
    bool plain = (p.flags & (PLAIN_STORE | VECTOR)) == (PLAIN_STORE | VECTOR) && p.splits == 1 && row0 + BM <= p.m &&
                 col0 + BN <= p.n;
#pragma unroll 1
    while (true) {
#pragma unroll 1
        for (int slice = 0; slice < BM / SLICE; slice++) {
            if (adding) {
                // Each thread adds up what it will store, several loads at a time.
                for (int i0 = threadIdx.x; i0 < FOURS; i0 += THREADS * BATCH)
                    add_partials<BM * BN / 4, THREADS, BATCH, BN>(partial + slice * FOURS, stage, i0, p.splits);
            } else {
                __syncthreads();
                dump(slice);
                __syncthreads();
            }
            if (plain) {
                u32 row = row0 + slice * SLICE;
                if (Is16<T>::value) {
                    store_plain<T, BN, SLICE, THREADS, 8>(p, at.batch, row, col0, stage);
                } else {
                    store_plain<T, BN, SLICE, THREADS, 4>(p, at.batch, row, col0, stage);
                }
                continue;
            }
#pragma unroll 1
            for (int i = threadIdx.x; i < FOURS; i += THREADS) {
                int r = i / (BN / 4), c = i % (BN / 4) * 4;
                u32 row = row0 + slice * SLICE + r, col = col0 + c;
                float4 sum = *(const float4*)(stage + r * ROW + c);
                if (p.splits > 1 && !adding) {
                    __stcg(partial + (u64)at.split * (BM * BN / 4) + slice * FOURS + i, sum);
                    continue;
                }
                if (row >= p.m || col >= p.n) continue;
                float v[4] = {sum.x, sum.y, sum.z, sum.w};
                finish<T>(p, at.batch, row, col, v);
            }
        }
        if (p.splits == 1 || adding) return;
        __threadfence();
        __syncthreads();
        u32* ticket = (u32*)stage;
        if (threadIdx.x == 0) *ticket = atomicInc(p.tickets + tile, p.splits - 1);
        __syncthreads();
        bool last = *ticket == p.splits - 1;
        __syncthreads();
        if (!last) return;
        __threadfence();
        adding = true;
    }
}
