// Products on the tensor cores (mma.sync): f16 and bf16, and f32 operands rounded to tf32. Sums are f32.
//
// A warp has a tile of WM by WN sums, in fragments of 16 by 8. Fragments of the next step in k are read from shared
// memory while those of this one are multiplied, across stages too. Lines along k are read by ldmatrix; lines along m or n
// by ldmatrix with transposition, or word by word for tf32, which that instruction cannot transpose.
#include "tile.cuh"

constexpr int BM = V_BM, BN = V_BN, BK = V_BK, WM = V_WM, WN = V_WN, STAGES = V_STAGES, SLICE = V_SLICE;
constexpr bool A_K = V_A_K, B_K = V_B_K, ANY = V_ANY;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
constexpr int STEP = HALF ? 16 : 8;  // of k, by one instruction
constexpr int WARPS_M = BM / WM, WARPS_N = BN / WN;
constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int MT = WM / 16, NT = WN / 8, STEPS = BK / STEP;
static_assert(STEPS % 2 == 0 && NT % 2 == 0, "fragments take turns; two are read at once");

constexpr Swizzle LINES_ALONG = HALF ? BY_ROW : BY_PAIR;
using TileA = Tile<T, A_K ? BM : BK, A_K ? BK : BM, A_K ? BY_ROW : LINES_ALONG>;
using TileB = Tile<T, B_K ? BN : BK, B_K ? BK : BN, B_K ? BY_ROW : LINES_ALONG>;
constexpr int STAGE = TileA::BYTES + TileB::BYTES;

__device__ __forceinline__ void ldmatrix(u32 (&r)[4], u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}
__device__ __forceinline__ void ldmatrix_transposed(u32 (&r)[4], u32 from) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(from)
                 : "memory");
}
__device__ __forceinline__ u32 word(u32 from) {
    u32 x;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
    return x;
}
// To nearest, ties away from zero: the tensor cores themselves would cut off.
__device__ __forceinline__ void round_tf32(u32& x) {
    if (!HALF && V_ROUND) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(x) : "f"(__uint_as_float(x)));
}

__device__ __forceinline__ void mma(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, f16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, bf16) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1, tf32) {
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The fragments of one step in k, for all of a warp's tile.
struct Fragments {
    u32 a[MT][4];
    u32 b[NT / 2][4];  // two fragments each: words 0, 1 and 2, 3

    __device__ __forceinline__ void read(u32 as, u32 bs, u32 row, u32 col, int step, u32 lane) {
        constexpr int CHUNKS_STEP = 2;  // 32 bytes of k a step
#pragma unroll
        for (int i = 0; i < MT; i++) {
            u32 r = row + i * 16;
            if (A_K) {
                // Squares: rows 0-7 and 8-15 of the first chunk, then of the second.
                ldmatrix(a[i], as + TileA::chunk(r + lane % 16, step * CHUNKS_STEP + lane / 16));
            } else if (HALF) {
                u32 k = step * STEP + lane % 8 + lane / 16 * 8, c = (r + lane / 8 % 2 * 8) / TileA::CHUNK;
                ldmatrix_transposed(a[i], as + TileA::chunk(k, c));
            } else {
                u32 g = lane / 4, k = step * STEP + lane % 4;
                a[i][0] = word(as + TileA::element(k, r + g));
                a[i][1] = word(as + TileA::element(k, r + g + 8));
                a[i][2] = word(as + TileA::element(k + 4, r + g));
                a[i][3] = word(as + TileA::element(k + 4, r + g + 8));
            }
        }
#pragma unroll
        for (int j = 0; j < NT / 2; j++) {
            u32 c = col + j * 16;
            if (B_K) {
                // Squares: both chunks of columns 0-7, then of 8-15.
                ldmatrix(b[j], bs + TileB::chunk(c + lane % 8 + lane / 16 * 8, step * CHUNKS_STEP + lane / 8 % 2));
            } else if (HALF) {
                u32 k = step * STEP + lane % 16;
                ldmatrix_transposed(b[j], bs + TileB::chunk(k, (c + lane / 16 * 8) / TileB::CHUNK));
            } else {
                u32 g = lane / 4, k = step * STEP + lane % 4;
                b[j][0] = word(bs + TileB::element(k, c + g));
                b[j][1] = word(bs + TileB::element(k + 4, c + g));
                b[j][2] = word(bs + TileB::element(k, c + 8 + g));
                b[j][3] = word(bs + TileB::element(k + 4, c + 8 + g));
            }
        }
    }
    __device__ __forceinline__ void round() {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int w = 0; w < 4; w++) round_tf32(a[i][w]);
#pragma unroll
        for (int j = 0; j < NT / 2; j++)
#pragma unroll
            for (int w = 0; w < 4; w++) round_tf32(b[j][w]);
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, V_BLOCKS) V_NAME(const __grid_constant__ MatMul p) {
    extern __shared__ __align__(128) char memory[];
    u32 base = shared_address(memory);
    Place at(p);
    using LoadA = Loader<T, TileA, A_K ? BM : BK, A_K ? BK : BM, A_K, ANY, THREADS>;
    using LoadB = Loader<T, TileB, B_K ? BN : BK, B_K ? BK : BN, B_K, ANY, THREADS>;
    LoadA a((const T*)p.a + at.a_offset, p.a_row, p.a_k, p.m, at.tile_m * BM, at.k_begin);
    LoadB b((const T*)p.b + at.b_offset, p.b_col, p.b_k, p.n, at.tile_n * BN, at.k_begin);

    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u32 row = warp / WARPS_N * WM, col = warp % WARPS_N * WN;

    i32 left = (i32)(at.k_end - at.k_begin);
    i32 steps = (left + BK - 1) / BK;
#pragma unroll
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            a.copy(base + s * STAGE, left - s * BK, BK);
            b.copy(base + s * STAGE + TileA::BYTES, left - s * BK, BK);
        }
        copies_end_stage();
    }
    float sum[MT][NT][4] = {};
    u32 reading = base, writing = base + (STAGES - 1) * STAGE;
    Fragments f[2];
    copies_wait<STAGES - 2>();
    __syncthreads();
    if (steps > 0) {
        f[0].read(reading, reading + TileA::BYTES, row, col, 0, lane);
        f[0].round();
    }
#pragma unroll 1
    for (i32 step = 0; step < steps; step++) {
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            if (s == STEPS - 1) {
                reading += STAGE;
                if (reading == base + STAGES * STAGE) reading = base;
                copies_wait<STAGES - 2>();
                __syncthreads();
            }
            f[(s + 1) % 2].read(reading, reading + TileA::BYTES, row, col, (s + 1) % STEPS, lane);
            if (s == 0) {
                i32 next = step + STAGES - 1;
                if (next < steps) {
                    a.copy(writing, left - next * BK, BK);
                    b.copy(writing + TileA::BYTES, left - next * BK, BK);
                }
                copies_end_stage();
                writing += STAGE;
                if (writing == base + STAGES * STAGE) writing = base;
            }
#pragma unroll
            for (int i = 0; i < MT; i++)
#pragma unroll
                for (int j = 0; j < NT; j++) {
                    // Back and forth, so that neighbouring instructions share a fragment.
                    int jj = i % 2 ? NT - 1 - j : j;
                    const Fragments& now = f[s % 2];
                    mma(sum[i][jj], now.a[i], now.b[jj / 2][jj % 2 * 2], now.b[jj / 2][jj % 2 * 2 + 1], T());
                }
            f[(s + 1) % 2].round();
        }
    }
    copies_wait<0>();

    float* stage = (float*)memory;
    store_tile<T, BM, BN, SLICE, THREADS>(p, at, stage, [&](int slice) {
        if (warp / WARPS_N * WM / SLICE != slice) return;
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) {
                float* to = stage + (row % SLICE + i * 16 + lane / 4) * (BN + 8) + col + j * 8 + lane % 4 * 2;
                *(float2*)to = make_float2(sum[i][j][0], sum[i][j][1]);
                *(float2*)(to + 8 * (BN + 8)) = make_float2(sum[i][j][2], sum[i][j][3]);
            }
    });
}
