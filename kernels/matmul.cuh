// What all matrix products share: arguments, the order of tiles, splitting of k, the store and the mark for epilogues.
#pragma once
#include "common.cuh"

constexpr int MAX_BATCH_RANK = 6;

enum Flags : u32 {
    VECTOR = 1,  // rows of the result are aligned to 16 bytes
    BARE = 2,    // nothing but the store of the sums
    BOXES = 4,   // which the copy engine does (matmul_wgmma.cu)
};

// The one argument of every product's kernel. Strides are in elements.
struct MatMul {
    const void* a;
    const void* b;
    void* out;  // null where an epilogue's own stores are all that is wanted
    float* partials;
    u32* tickets;
    i64 a_row, a_k, b_k, b_col;
    i64 a_batch[MAX_BATCH_RANK], b_batch[MAX_BATCH_RANK];
    u32 batch_shape[MAX_BATCH_RANK];
    u32 batch_rank;
    u32 m, n, k;
    u32 tiles_m, tiles_n;
    u32 splits;  // how many blocks share a tile
    u32 k_part;  // how much of k each of them takes, a multiple of the tile's depth
    u32 flags;
    u32 uneven;  // 1 where blocks take unlike numbers of parts, and parts are of unlike depth (matmul_wgmma.cu)
};

// The tile, part of k and matrix of the batch that this block computes.
struct Place {
    u32 tile_m, tile_n, split, batch, k_begin, k_end;
    i64 a_offset, b_offset;

    // Blocks that run together share rows and columns of the operands: tiles go down a band of GROUP rows of tiles,
    // then one to the right.
    __device__ __forceinline__ Place(const MatMul& p) {
        constexpr u32 GROUP = 8;
        // Divisions that are rarely needed are passed by: each takes a tenth of a microsecond before the first copy.
        u32 id = blockIdx.x, tiles = p.tiles_m * p.tiles_n, first = 0;
        split = batch = 0;
        if (p.splits > 1) {
            u32 rest = id / p.splits;
            split = id - rest * p.splits;
            id = rest;
        }
        if (id >= tiles) {
            batch = id / tiles;
            id -= batch * tiles;
        }
        if (p.tiles_m > GROUP) {
            u32 band = id / (GROUP * p.tiles_n);
            first = band * GROUP;
            id -= first * p.tiles_n;
        }
        u32 height = min(GROUP, p.tiles_m - first);
        tile_n = id / height;
        tile_m = first + id - tile_n * height;
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

__device__ __forceinline__ u32 pack(f16, float low, float high) { return to_f16(low).bits | (u32)to_f16(high).bits << 16; }
template <typename T>
__device__ __forceinline__ u32 pack(T, float low, float high) { return to_bf16(low).bits | (u32)to_bf16(high).bits << 16; }

// Stores four neighbouring sums of a row.
template <typename T>
__device__ __forceinline__ void store_four(const MatMul& p, u32 batch, u32 row, u32 col, float4 v) {
    i64 at = ((i64)batch * p.m + row) * p.n + col;
    bool vector = p.flags & VECTOR;
    if (Is16<T>::value) {
        uint2 packed = make_uint2(pack(T(), v.x, v.y), pack(T(), v.z, v.w));
        u16* to = (u16*)p.out + at;
        if (vector) {
            *(uint2*)to = packed;
        } else {
            to[0] = (u16)packed.x;
            if (col + 1 < p.n) to[1] = (u16)(packed.x >> 16);
            if (col + 2 < p.n) to[2] = (u16)packed.y;
            if (col + 3 < p.n) to[3] = (u16)(packed.y >> 16);
        }
    } else {
        float* to = (float*)p.out + at;
        if (vector) {
            *(float4*)to = v;
        } else {
            to[0] = v.x;
            if (col + 1 < p.n) to[1] = v.y;
            if (col + 2 < p.n) to[2] = v.z;
            if (col + 3 < p.n) to[3] = v.w;
        }
    }
}

// As `store_four`, behind a mark.
//
// The mark is a comment in the PTX that names the registers of the four values, the matrix of the batch, the row and the
// first column (u32): code of the engine's own, an epilogue, is spliced in there as text.
template <typename T>
__device__ __forceinline__ void finish(const MatMul& p, u32 batch, u32 row, u32 col, float4 v) {
    asm volatile("// mg.epilogue %0 %1 %2 %3 %4 %5 %6"
                 : "+f"(v.x), "+f"(v.y), "+f"(v.z), "+f"(v.w)
                 : "r"(batch), "r"(row), "r"(col));
    if (p.out) store_four<T>(p, batch, row, col, v);
}

// The same for four rows, each two below the one before, of which the first is there: what the code reads for one is under way while it
// waits for another's. This mark names how far they are apart and their values one row after the other.
template <typename T>
__device__ __forceinline__ void finish_rows(const MatMul& p, u32 batch, u32 row, u32 col, float4 (&v)[4]) {
    asm volatile("// mg.epilogues 2 %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18"
                 : "+f"(v[0].x), "+f"(v[0].y), "+f"(v[0].z), "+f"(v[0].w), "+f"(v[1].x), "+f"(v[1].y), "+f"(v[1].z), "+f"(v[1].w),
                   "+f"(v[2].x), "+f"(v[2].y), "+f"(v[2].z), "+f"(v[2].w), "+f"(v[3].x), "+f"(v[3].y), "+f"(v[3].z), "+f"(v[3].w)
                 : "r"(batch), "r"(row), "r"(col));
    if (!p.out) return;
#pragma unroll
    for (u32 j = 0; j < 4; j++)
        if (row + 2 * j < p.m) store_four<T>(p, batch, row + 2 * j, col, v[j]);
}

// Sums over the result's columns, which an epilogue may have: of what a thread has at the marks between these two. `begin` is before the
// first of them; `end` names rows of a tile, into how many groups a tile's rows are divided, the bits of a lane's number by which those are
// apart that have the same columns of a group, the matrix of the batch, the group, counted from the matrix' first, and the thread's column.
template <int ROWS, int PER_TILE, int LANES>
struct ColumnSums {
    static __device__ __forceinline__ void begin() {
        asm volatile("// mg.sums");
    }
    static __device__ __forceinline__ void end(u32 batch, u32 group, u32 col) {
        asm volatile("// mg.summed %0 %1 %2 %3 %4 %5" ::"n"(ROWS), "n"(PER_TILE), "n"(LANES), "r"(batch), "r"(group), "r"(col));
    }
};

__device__ __forceinline__ void add(float4& sum, float4 x) {
    sum.x = __fadd_rn(sum.x, x.x);
    sum.y = __fadd_rn(sum.y, x.y);
    sum.z = __fadd_rn(sum.z, x.z);
    sum.w = __fadd_rn(sum.w, x.w);
}

// Four neighbouring sums that `GROUPS` groups of threads left, each its own, `SIZE` apart: added in the order of the groups. Or those
// of the first place `alone`.
template <int GROUPS, int SIZE>
__device__ __forceinline__ float4 staged(const float* stage, bool alone = false) {
    float4 sum = *(const float4*)stage;
    if (alone) return sum;
#pragma unroll
    for (int g = 1; g < GROUPS; g++) add(sum, *(const float4*)(stage + g * SIZE));
    return sum;
}

// Adds up the sums of `splits` blocks, `SIZE` apart, in the order of k, and puts the results where a slice of the tile
// stands. What is under way at a time decides how long it takes: `BATCH` fours of several blocks.
template <int SIZE, int THREADS, int BATCH, int BN>
__device__ __forceinline__ void add_partials(const float4* partial, float* stage, u32 i0, u32 splits) {
    constexpr u32 AHEAD = BATCH == 8 ? 2 : 8 / BATCH;
    float4 sum[BATCH];
    partial += i0;
#pragma unroll
    for (int j = 0; j < BATCH; j++) sum[j] = __ldcg(partial + j * THREADS);
#pragma unroll 1
    for (u32 s = 1; s < splits; s += AHEAD) {
        float4 next[AHEAD][BATCH];
#pragma unroll
        for (u32 a = 0; a < AHEAD; a++) {
            partial += SIZE;
            if (s + a < splits)
#pragma unroll
                for (int j = 0; j < BATCH; j++) next[a][j] = __ldcg(partial + j * THREADS);
        }
#pragma unroll
        for (u32 a = 0; a < AHEAD; a++)
            if (s + a < splits)
#pragma unroll
                for (int j = 0; j < BATCH; j++) add(sum[j], next[a][j]);
    }
#pragma unroll
    for (int j = 0; j < BATCH; j++) {
        u32 i = i0 + j * THREADS;
        *(float4*)(stage + i / (BN / 4) * (BN + 8) + i % (BN / 4) * 4) = sum[j];
    }
}

// The store alone, of a slice that lies within the result: sixteen bytes a thread.
template <typename T, int BN, int SLICE, int THREADS, int GROUPS>
__device__ __forceinline__ void store_plain(const MatMul& p, u32 batch, u32 row0, u32 col0, const float* stage) {
    constexpr int EACH = Is16<T>::value ? 8 : 4, ROW = BN + 8;
    constexpr int PARTS = BN / EACH, ROWS = THREADS / PARTS;
    static_assert(THREADS % PARTS == 0 && SLICE % ROWS == 0, "");
    u32 r = threadIdx.x / PARTS, c = threadIdx.x % PARTS * EACH;
    i64 to = ((i64)batch * p.m + row0 + r) * p.n + col0 + c;
    const float* from = stage + r * ROW + c;
#pragma unroll 4
    for (int i = 0; i < SLICE / ROWS; i++) {
        float4 low = staged<GROUPS, SLICE * ROW>(from);
        if (EACH == 4) {
            *(float4*)((float*)p.out + to) = low;
        } else {
            float4 high = staged<GROUPS, SLICE * ROW>(from + 4);
            uint4 packed = make_uint4(pack(T(), low.x, low.y), pack(T(), low.z, low.w), pack(T(), high.x, high.y),
                                      pack(T(), high.z, high.w));
            *(uint4*)((u16*)p.out + to) = packed;
        }
        from += ROWS * ROW;
        to += (i64)ROWS * p.n;
    }
}

// Brings a tile of sums from registers to memory. `dump(slice)` writes the rows of one slice of `SLICE` rows to `stage`
// (row stride BN + 8: rows of one fragment fall into different banks), each group of threads to a place of its own.
// Where several blocks share a tile each leaves its sums in `partials`; the last to come (by ticket, which it leaves
// at zero) adds them in the order of k.
template <typename T, int BM, int BN, int SLICE, int THREADS, int GROUPS, typename Dump>
__device__ __forceinline__ void store_tile(const MatMul& p, const Place& at, float* stage, Dump dump) {
    constexpr int ROW = BN + 8;
    constexpr int FOURS = SLICE * BN / 4;
    // As many as there are registers for, which the sums have left.
    constexpr int MOST = BM * BN / THREADS >= 128 ? 8 : 4;
    constexpr int BATCH = FOURS / THREADS < MOST ? FOURS / THREADS : MOST;
    static_assert(FOURS % (THREADS * BATCH) == 0, "");
    u32 row0 = at.tile_m * BM, col0 = at.tile_n * BN;
    u32 tile = (at.batch * p.tiles_m + at.tile_m) * p.tiles_n + at.tile_n;
    float4* partial = (float4*)p.partials + (u64)tile * p.splits * (BM * BN / 4);
    // Small tiles do without: it is more text for the driver to assemble.
    bool plain = BM * BN >= 128 * 64 && p.flags == (BARE | VECTOR) && p.splits == 1 && row0 + BM <= p.m && col0 + BN <= p.n;
    bool adding = false;
    // Each thread has the same columns all the time.
    constexpr int FOURS_OF_ROW = BN / 4, APART = FOURS_OF_ROW < 32 ? 32 : FOURS_OF_ROW;
    static_assert(THREADS % APART == 0, "");
    using Sums = ColumnSums<BM, THREADS / APART, APART - FOURS_OF_ROW>;
#pragma unroll 1
    while (true) {
        Sums::begin();
#pragma unroll 1
        for (u32 slice = 0; slice < BM / SLICE; slice++) {
            if (adding) {
                // Each thread adds up what it will store.
                for (u32 i0 = threadIdx.x; i0 < FOURS; i0 += THREADS * BATCH)
                    add_partials<BM * BN / 4, THREADS, BATCH, BN>(partial + slice * FOURS, stage, i0, p.splits);
            } else {
                __syncthreads();
                dump(slice);
                __syncthreads();
            }
            if (plain) {
                store_plain<T, BN, SLICE, THREADS, GROUPS>(p, at.batch, row0 + slice * SLICE, col0, stage);
                continue;
            }
#pragma unroll 1
            for (u32 i = threadIdx.x; i < FOURS; i += THREADS) {
                u32 r = i / (BN / 4), c = i % (BN / 4) * 4;
                u32 row = row0 + slice * SLICE + r, col = col0 + c;
                float4 sum = staged<GROUPS, SLICE * ROW>(stage + r * ROW + c, adding);
                if (p.splits > 1 && !adding) {
                    __stcg(partial + (u64)at.split * (BM * BN / 4) + slice * FOURS + i, sum);
                    continue;
                }
                if (row < p.m && col < p.n) finish<T>(p, at.batch, row, col, sum);
            }
        }
        if (p.splits == 1 || adding) {
            Sums::end(at.batch, at.tile_m * (THREADS / APART) + threadIdx.x / APART, col0 + threadIdx.x % FOURS_OF_ROW * 4);
            return;
        }
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
