// Columns are reflected by the reflections of a panel together: C − V T Vᵀ C, or with T transposed; 16 columns a block, all their rows, or so
// many, and then one launch adds up Vᵀ C in parts, and a second does the rest. Of the matrix whose columns these are, rows and columns may be the
// identity's, of which memory knows nothing yet: the product of all reflections is put together from the last panel to the first.
#include "factor.cuh"

using T = V_T;

struct Reflect {
    const T* from;
    T* top;       // where the first `width` rows go to,
    T* to;        // and the rest
    const T* v;   // reflections, `stride` elements each
    const T* t;
    T* parts;     // of Vᵀ C, where there are several
    u64 from_batch, top_batch, to_batch, v_batch, t_batch;  // elements from matrix to matrix
    u64 row;      // elements from row to row of columns
    u64 stride;
    u32 rows, columns, width;
    u32 unknown;  // rows, and columns, of the identity, where it is not 0; if it is, T is transposed
    u32 tiles;    // blocks from left to right
    u32 shares, share;  // blocks from top to bottom, and the rows of each, a multiple of 4
    u32 adds;     // whether this launch adds up Vᵀ C,
    u32 reflects; // and whether it does the rest
};

constexpr u32 WARPS = THREADS / 32;
constexpr u32 WIDE = 32;
constexpr u32 COLUMNS = 16;
// Reflections of a lane, and rows that are read at once.
constexpr u32 OWN = 8, BESIDE = 4;

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Reflect p) {
    __shared__ T sums[WARPS][WIDE][COLUMNS + 1];
    __shared__ T by[WIDE][WIDE + 1];
    const u32 t = threadIdx.x, lane = t % 32, warp = t / 32, rows = p.rows, width = p.width;
    const u64 number = blockIdx.x / p.tiles / p.shares;
    const u32 left = blockIdx.x % p.tiles * COLUMNS, own = blockIdx.x / p.tiles % p.shares;
    const u32 begin = own * p.share, end = min(begin + p.share, rows);
    // Parts of the same columns lie one after the other.
    T* parts = p.parts + (number * p.tiles + blockIdx.x % p.tiles) * p.shares * (WIDE * COLUMNS);
    const T* from = p.from + number * p.from_batch + left;
    const T* v = p.v + number * p.v_batch;
    const T* from_t = p.t + number * p.t_batch;
    for (u32 e = t; e < WIDE * width; e += THREADS) {
        const u32 i = e / WIDE, j = e % WIDE;
        if (p.unknown) by[i][j] = from_t[e];
        else by[j][i] = from_t[e];
    }
    // Of what is not there, a neighbour is read that is: loads wait for no condition.
    const u32 columns = min(p.columns - left, COLUMNS);
    auto value = [&](u32 i, u32 j) -> T {
        const T x = from[min(i, rows - 1) * p.row + min(j, columns - 1)];
        if (i < p.unknown || left + j < p.unknown) return i == left + j ? (T)1 : (T)0;
        return i < rows && j < columns ? x : (T)0;
    };
    // Vᵀ C: a lane has eight reflections and two columns, of four rows at a time. Where reflections are few, lanes have the same of other rows.
    const u32 groups = width > 2 * OWN ? 4 : width > OWN ? 2 : 1, apart = 4 / groups;
    if (p.adds) {
        const u32 first = lane / 8 % groups * OWN, column = lane % 8;
        T sum[OWN][2] = {};
#pragma unroll 1
        for (u32 i = begin + (warp * apart + lane / 8 / groups) * BESIDE; i < end; i += WARPS * apart * BESIDE) {
            T c[BESIDE][2];
#pragma unroll
            for (u32 e = 0; e < BESIDE; e++)
#pragma unroll
                for (u32 h = 0; h < 2; h++) c[e][h] = value(i + e, column + 8 * h);
#pragma unroll
            for (u32 o = 0; o < OWN; o++) {
                const Four<T> x = *(const Four<T>*)(v + min(first + o, width - 1) * p.stride + i);
#pragma unroll
                for (u32 e = 0; e < BESIDE; e++)
#pragma unroll
                    for (u32 h = 0; h < 2; h++) sum[o][h] = more(sum[o][h], x.v[e], c[e][h]);
            }
        }
#pragma unroll
        for (u32 o = 0; o < OWN; o++)
#pragma unroll
            for (u32 h = 0; h < 2; h++) sums[warp][lane / 8 * OWN + o][column + 8 * h] = sum[o][h];
    }
    __syncthreads();
    for (u32 e = t; e < width * COLUMNS; e += THREADS) {
        T sum = (T)0;
        if (p.adds) {
            for (u32 row = e / COLUMNS; row < WIDE; row += groups * OWN)
#pragma unroll
                for (u32 w = 0; w < WARPS; w++) sum += sums[w][row][e % COLUMNS];
        } else {
#pragma unroll 8
            for (u32 part = 0; part < p.shares; part++) sum += parts[part * (WIDE * COLUMNS) + e];
        }
        if (!p.reflects) parts[own * (WIDE * COLUMNS) + e] = sum;
        else sums[0][e / COLUMNS][e % COLUMNS] = sum;
    }
    if (!p.reflects) return;
    __syncthreads();
    for (u32 e = t; e < WIDE * COLUMNS; e += THREADS) {
        const u32 i = e / COLUMNS, j = e % COLUMNS;
        T sum = (T)0;
        if (i < width)
#pragma unroll 8
            for (u32 k = 0; k < width; k++) sum = more(sum, by[i][k], sums[0][k][j]);
        sums[1][i][j] = -sum;
    }
    __syncthreads();
    // V times that: a lane has four rows of a column.
    const u32 column = lane % COLUMNS;
    if (column >= columns) return;
    T* top = p.top + number * p.top_batch + left + column;
    T* to = p.to + number * p.to_batch + left + column;
    for (u32 i = begin + (warp * 2 + lane / COLUMNS) * BESIDE; i < end; i += 2 * WARPS * BESIDE) {
        T c[BESIDE];
#pragma unroll
        for (u32 e = 0; e < BESIDE; e++) c[e] = value(i + e, column);
#pragma unroll 8
        for (u32 k = 0; k < width; k++) {
            const Four<T> x = *(const Four<T>*)(v + k * p.stride + i);
            const T times = sums[1][k][column];
#pragma unroll
            for (u32 e = 0; e < BESIDE; e++) c[e] = more(c[e], x.v[e], times);
        }
#pragma unroll
        for (u32 e = 0; e < BESIDE; e++)
            if (i + e < rows) (i + e < width ? top : to)[(i + e) * p.row] = c[e];
    }
}
