// What factorisations of large matrices are put together from: tiles of 64 rows and columns, from which a product is taken off, and
// triangles of 64 rows that are solved with, by one warp for each few right sides.
#pragma once
#include "common.cuh"

constexpr u32 SIDE = 64;
// What a tile's product is read in: so many of the rows and columns that it sums over.
constexpr u32 DEEP = 32;
constexpr u32 THREADS = 256;
// Right sides of a warp.
constexpr u32 RIGHT = 4;

template <typename T>
struct alignas(16) Four {
    T v[4];
};

// A tile's elements, or of the rows and columns that it sums over so many each.
template <typename T>
using Tile = Four<T>[2 * DEEP][SIDE / 4 + 1];
static_assert(2 * DEEP == SIDE);

// A matrix as a tile reads it: elements from row to row, and from column to column. `packed` says that four neighbours may be read at once.
template <typename T>
struct Seen {
    const T* at;
    u64 row, column;
    u32 rows, columns;
    bool packed;
};

// Whether four neighbours may be read at once wherever rows and matrices begin.
template <typename T>
__device__ __forceinline__ bool is_packed(const T* at, u64 row) {
    return ((u64)at | row * sizeof(T)) % 16 == 0;
}

// x - a b, rounded once; `negative` is -a.
__device__ __forceinline__ float less(float x, float negative, float b) { return __fmaf_rn(negative, b, x); }
__device__ __forceinline__ double less(double x, double negative, double b) { return __fma_rn(negative, b, x); }
// x + a b, rounded once.
template <typename T>
__device__ __forceinline__ T more(T x, T a, T b) {
    return less(x, a, b);
}

// Takes a · b off `sum`, of which thread `t` has the rows from 4 (t / 16) on and the columns from 4 (t % 16) on. `a` and `b` begin at the tile's
// first row and column. What lies outside is zero. The order of additions is that of memory.
template <typename T>
__device__ __forceinline__ void take_off(Tile<T>& tile, Seen<T> a, Seen<T> b, T (&sum)[4][4]) {
    const u32 t = threadIdx.x, ty = t / 16, tx = t % 16;
    for (u32 first = 0; first < a.columns; first += DEEP) {
        __syncthreads();
        // Neighbouring threads read neighbouring elements, whichever way a matrix lies: `along` from row to row of the tile, `deep` along what is
        // added up.
        auto read = [&](Four<T>(*to)[SIDE / 4 + 1], const T* from, u64 along, u64 deep, u32 length, bool packed) {
            const bool beside = along == 1;
            if (packed) {
                constexpr u32 TIMES = SIDE * DEEP / 4 / THREADS;
                Four<T> x[TIMES];
                const u32 i = beside ? t % 16 * 4 : t / 8, k = beside ? t / 16 : t % 8 * 4;
                const T* place = from + i * along + (first + k) * deep;
                const u64 next = beside ? 16 * deep : 32 * along;
#pragma unroll
                for (u32 e = 0; e < TIMES; e++) x[e] = *(const Four<T>*)(place + e * next);
#pragma unroll
                for (u32 e = 0; e < TIMES; e++) {
                    if (beside) to[k + e * 16][i / 4] = x[e];
                    else
#pragma unroll
                        for (u32 q = 0; q < 4; q++) to[k + q][(i + e * 32) / 4].v[i % 4] = x[e].v[q];
                }
                return;
            }
#pragma unroll 2
            for (u32 e = 0; e < SIDE * DEEP / THREADS; e++) {
                const u32 k = beside ? t / 64 + e * 4 : t % 8 + e / 2 * 8, i = beside ? t % 64 : t / 8 + e % 2 * 32;
                T value = (T)0;
                if (i < length && first + k < a.columns) value = from[i * along + (first + k) * deep];
                to[k][i / 4].v[i % 4] = value;
            }
        };
        read(tile, a.at, a.row, a.column, a.rows, a.packed);
        read(tile + DEEP, b.at, b.column, b.row, b.columns, b.packed);
        __syncthreads();
#pragma unroll 2
        for (u32 k = 0; k < DEEP; k++) {
            Four<T> x = tile[k][ty], y = tile[DEEP + k][tx];
#pragma unroll
            for (u32 r = 0; r < 4; r++)
#pragma unroll
                for (u32 c = 0; c < 4; c++) sum[r][c] = less(sum[r][c], -x.v[r], y.v[c]);
        }
    }
}

__device__ __forceinline__ float smallest(float) { return 1.17549435e-38f; }
__device__ __forceinline__ double smallest(double) { return 2.2250738585072014e-308; }
__device__ __forceinline__ float magnitude(float x) { return fabsf(x); }
__device__ __forceinline__ double magnitude(double x) { return fabs(x); }
__device__ __forceinline__ bool is_finite(float x) { return fabsf(x) < __int_as_float(0x7f800000); }
__device__ __forceinline__ bool is_finite(double x) { return fabs(x) < __longlong_as_double(0x7ff0000000000000ll); }

// Elements of a thread's, of as many as a triangle's square has: what reads them has all loads under way at once.
constexpr u32 SHARE = SIDE * SIDE / THREADS;

// A lower triangle of up to 64 rows, to solve with.
template <typename T>
struct Triangle {
    // Column by column; one element more in a column, so that a row lies in different banks.
    T lower[SIDE][SIDE + 1];
    T diagonal[SIDE], inverse[SIDE];
};

// Whether a number can be divided by by way of its inverse.
template <typename T>
__device__ __forceinline__ bool is_tame(T x) {
    return magnitude(x) >= smallest(x) && magnitude(x) <= (T)1 / smallest(x) / 4;
}

// `lower` X = right sides, of which a lane has rows `lane` and `lane + 32`; `rows` of them are there. `tame` says that inverses will do.
template <typename T>
__device__ __forceinline__ void forward(const Triangle<T>& by, u32 rows, bool tame, T (&low)[RIGHT], T (&high)[RIGHT]) {
    const u32 lane = threadIdx.x % 32;
    auto step = [&](u32 j, bool by_inverse) {
        const T below = -by.lower[j][lane], beyond = -by.lower[j][lane + 32];
#pragma unroll
        for (u32 r = 0; r < RIGHT; r++) {
            T x = __shfl_sync(0xffffffffu, j < 32 ? low[r] : high[r], j % 32);
            x = by_inverse ? x * by.inverse[j] : x / by.diagonal[j];
            if (lane == j) low[r] = x;
            if (lane > j) low[r] = less(low[r], below, x);
            if (lane + 32 == j) high[r] = x;
            if (lane + 32 > j) high[r] = less(high[r], beyond, x);
        }
    };
    if (tame)
#pragma unroll 2
        for (u32 j = 0; j < rows; j++) step(j, true);
    else
#pragma unroll 1
        for (u32 j = 0; j < rows; j++) step(j, false);
}
