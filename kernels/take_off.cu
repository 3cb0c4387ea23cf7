// A product is taken off a matrix: to = from - a b, 64 × 64 elements a block, for many matrices.
//
// For elimination the first columns go to memory of their own, column by column: the next panel. For Cholesky's factorisation, A = L Lᵀ,
// only the lower triangle is computed, and the first block of a matrix factors its tile, which is the next on the diagonal, while other blocks are
// still at theirs; what lies below that tile is solved for by triangular_block.cu. No block waits for another, and what is added up
// in which order follows from the sizes.
#include "factor.cuh"

using T = V_T;

struct TakeOff {
    T* to;
    const T* from;
    const T* a;
    const T* b;
    T* panel;
    T* told;  // of Cholesky's: for each matrix the order of the first leading minor that is not positive definite, or 0
    u64 to_batch, from_batch, a_batch, b_batch;  // elements from matrix to matrix
    u64 to_row, from_row, a_row, a_column, b_row, b_column;
    u64 panel_stride;
    u32 panel_width;
    u32 rows, columns, depth;
    u32 across;  // tiles from left to right
    u32 tiles;   // of a matrix
    u32 done;    // columns that are factored
};

// Factors a tile whose elements are in registers: how many of its columns are. Of these shared memory has, one after the other, what is to be divided
// by the root of its pivot.
__device__ __forceinline__ u32 factor(T (&a)[4][4], Tile<T>& columns, u32 rows) {
    const u32 ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    __syncthreads();
#pragma unroll 1
    for (u32 j = 0; j < rows; j++) {
        const u32 c = j % 4;
        if (tx == j / 4) {
            Four<T> own;
#pragma unroll
            for (u32 r = 0; r < 4; r++) own.v[r] = c < 2 ? c == 0 ? a[r][0] : a[r][1] : c == 2 ? a[r][2] : a[r][3];
            columns[j][ty] = own;
        }
        __syncthreads();
        const T pivot = columns[j][j / 4].v[c];
        const Four<T> mine = columns[j][ty];
        Four<T> across = columns[j][tx];
        if (!(pivot > (T)0) || !is_finite(pivot)) return j;
        if (is_tame(pivot)) {
            const T inverse = (T)1 / pivot;
#pragma unroll
            for (u32 e = 0; e < 4; e++) across.v[e] *= inverse;
        } else {
#pragma unroll
            for (u32 e = 0; e < 4; e++) across.v[e] /= pivot;
        }
#pragma unroll
        for (u32 r = 0; r < 4; r++)
#pragma unroll
            for (u32 e = 0; e < 4; e++) a[r][e] = less(a[r][e], -mine.v[r], across.v[e]);
    }
    return rows;
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ TakeOff p) {
    __shared__ Tile<T> tile;
    const u32 ty = threadIdx.x / 16, tx = threadIdx.x % 16;
    const u64 number = blockIdx.x / p.tiles;
    const u32 at = blockIdx.x % p.tiles, row = at / p.across * SIDE, left = at % p.across * SIDE;
    const bool symmetric = p.told, begins = p.done == 0;
    T* told = p.told + number * p.to_batch;
    if (symmetric && !begins) {
        // Above the diagonal there are zeros. What an earlier launch refused stays as it is; what this one refuses lies further on.
        const T wrong = *(volatile T*)told;
        if (left > row || (wrong > (T)0 && wrong <= (T)p.done)) return;
    }
    const u32 t = threadIdx.x, side = t % SIDE, first = t / SIDE;
    constexpr u32 STEP = THREADS / SIDE;
    const u32 i = row + ty * 4, j = left + tx * 4;
    const T* from = p.from + number * p.from_batch;
    T* to = p.to + number * p.to_batch;
    const T* a_first = p.a + number * p.a_batch + row * p.a_row;
    const T* b_first = p.b + number * p.b_batch + left * p.b_column;
    // A whole tile of which four neighbours may be read and written at once.
    const bool whole = row + SIDE <= p.rows && left + SIDE <= p.columns;
    const bool direct = whole && left >= p.panel_width && (!symmetric || left < row) && is_packed(from, p.from_row) && is_packed((const T*)to, p.to_row);
    T sum[4][4];
    if (direct) {
        Four<T> x[4];
#pragma unroll
        for (u32 r = 0; r < 4; r++) x[r] = *(const Four<T>*)(from + (i + r) * p.from_row + j);
#pragma unroll
        for (u32 r = 0; r < 4; r++)
#pragma unroll
            for (u32 c = 0; c < 4; c++) sum[r][c] = x[r].v[c];
    } else {
        // By way of shared memory: neighbouring threads have neighbouring elements there.
        const T* place = from + (row + first) * p.from_row + left + side;
        const u64 next = STEP * p.from_row;
#pragma unroll 4
        for (u32 r = first; r < SIDE; r += STEP, place += next) {
            const bool there = row + r < p.rows && left + side < p.columns && (!symmetric || left + side <= row + r);
            tile[r][side / 4].v[side % 4] = there ? *place : (T)0;
        }
        __syncthreads();
#pragma unroll
        for (u32 r = 0; r < 4; r++)
#pragma unroll
            for (u32 c = 0; c < 4; c++) sum[r][c] = tile[ty * 4 + r][tx].v[c];
    }
    const bool even = whole && p.depth % DEEP == 0;
    const u64 a_line = p.a_row == 1 ? p.a_column : p.a_row, b_line = p.b_column == 1 ? p.b_row : p.b_column;
    Seen<T> a = {a_first, p.a_row, p.a_column, p.rows - row, p.depth, even && is_packed(a_first, a_line)};
    Seen<T> b = {b_first, p.b_row, p.b_column, p.depth, p.columns - left, even && is_packed(b_first, b_line)};
    take_off(tile, a, b, sum);
    u32 factored = 0;
    if (symmetric && at == 0) {
        const u32 rows = min(SIDE, p.rows);
        factored = factor(sum, tile, rows);
        if (threadIdx.x == 0 && (factored < rows || begins)) *(volatile T*)told = factored < rows ? (T)(p.done + factored + 1) : (T)0;
    }
    if (direct) {
#pragma unroll
        for (u32 r = 0; r < 4; r++) {
            Four<T> x;
#pragma unroll
            for (u32 c = 0; c < 4; c++) x.v[c] = sum[r][c];
            *(Four<T>*)(to + (i + r) * p.to_row + j) = x;
        }
        return;
    }
    __syncthreads();
    if (factored > 0) {
#pragma unroll
        for (u32 c = 0; c < 4; c++) {
            const u32 number_of = tx * 4 + c;
            const Four<T> column = tile[number_of][ty];
            const T root = sqrt(tile[number_of][tx].v[c]), inverse = (T)1 / root;
#pragma unroll
            for (u32 r = 0; r < 4; r++)
                if (number_of < factored) sum[r][c] = ty * 4 + r == number_of ? root : column.v[r] * inverse;
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 r = 0; r < 4; r++)
#pragma unroll
        for (u32 c = 0; c < 4; c++) tile[ty * 4 + r][tx].v[c] = sum[r][c];
    __syncthreads();
    // A panel is no wider than a tile, and begins where the matrix does.
    const bool to_panel = left < p.panel_width;
    if (to_panel) {
        T* panel = p.panel + number * (p.panel_stride * SIDE) + first * p.panel_stride + row + side;
        const u64 next = STEP * p.panel_stride;
#pragma unroll 1
        for (u32 c = first; c < p.panel_width; c += STEP, panel += next)
            if (row + side < p.rows) *panel = tile[side][c / 4].v[c % 4];
    }
    to += (row + first) * p.to_row + left + side;
    const u64 next = STEP * p.to_row;
#pragma unroll 2
    for (u32 r = first; r < SIDE; r += STEP, to += next) {
        if (row + r >= p.rows || left + side >= p.columns || left + side < p.panel_width) continue;
        const bool above = symmetric && left + side > row + r;
        if (begins || !above) *to = above ? (T)0 : tile[r][side / 4].v[side % 4];
    }
}
