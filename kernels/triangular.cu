// Systems of equations whose matrix is a triangle: A X = B, or Aᵀ X = B.
//
// A block has 32 columns of the right side of one matrix, and goes over its rows 32 at a time, from that row on which no other depends: what is known of X
// is multiplied with the matrix and taken off, then the 32 rows are solved among themselves. What the block has written it reads again,
// so that nothing waits for another block. The order of additions is fixed by the sizes.
#include "common.cuh"

using T = V_T;

constexpr u32 THREADS = 256;

struct Triangular {
    T* out;
    const T* a;
    const T* b;
    u32 n, k;    // rows, columns of the right side
    u32 tiles;   // blocks of 32 of these columns
    u32 upper, unit, transposed;
};

constexpr u32 SIDE = 32;
// Rows of a tile that are as far apart as threads are.
constexpr u32 EACH = 4;

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Triangular p) {
    // One element more in a row, so that a column lies in different banks.
    __shared__ T matrix[SIDE][SIDE + 1];
    __shared__ T known[SIDE][SIDE + 1];
    const u32 column = threadIdx.x % SIDE, line = threadIdx.x / SIDE;
    const u64 batch = blockIdx.x / p.tiles;
    const u32 first = blockIdx.x % p.tiles * SIDE;
    const T* a = p.a + batch * p.n * p.n;
    const T* b = p.b + batch * p.n * p.k;
    T* x = p.out + batch * p.n * p.k;
    const bool inside = first + column < p.k;
    // The triangle as it is read: transposed, the upper one is a lower one.
    const bool upper = (p.upper != 0) != (p.transposed != 0);
    const u32 blocks = (p.n + SIDE - 1) / SIDE;

    // Reads the tile of the matrix at a row and a column of tiles. What lies outside is zero.
    auto read = [&](u32 rows, u32 columns) {
        for (u32 i = 0; i < SIDE; i += SIDE / EACH) {
            // Neighbouring threads read neighbouring elements, whichever way the matrix is seen.
            u32 r = line + i, c = column;
            u32 row = (p.transposed ? columns : rows) * SIDE + r, at = (p.transposed ? rows : columns) * SIDE + c;
            T value = row < p.n && at < p.n ? a[(u64)row * p.n + at] : (T)0;
            if (p.transposed) matrix[c][r] = value;
            else matrix[r][c] = value;
        }
    };

    for (u32 step = 0; step < blocks; step++) {
        const u32 rows = upper ? blocks - 1 - step : step;
        T rest[EACH];
        for (u32 e = 0; e < EACH; e++) {
            u32 row = rows * SIDE + line + e * (SIDE / EACH);
            rest[e] = row < p.n && inside ? b[(u64)row * p.k + first + column] : (T)0;
        }
        for (u32 before = 0; before < step; before++) {
            const u32 columns = upper ? blocks - 1 - before : before;
            __syncthreads();
            read(rows, columns);
            for (u32 i = 0; i < SIDE; i += SIDE / EACH) {
                u32 row = columns * SIDE + line + i;
                known[line + i][column] = row < p.n && inside ? x[(u64)row * p.k + first + column] : (T)0;
            }
            __syncthreads();
            for (u32 e = 0; e < EACH; e++) {
                T sum = (T)0;
#pragma unroll 8
                for (u32 i = 0; i < SIDE; i++) sum += matrix[line + e * (SIDE / EACH)][i] * known[i][column];
                rest[e] -= sum;
            }
        }
        __syncthreads();
        read(rows, rows);
        for (u32 e = 0; e < EACH; e++) known[line + e * (SIDE / EACH)][column] = rest[e];
        __syncthreads();
        // Row after row, each by one warp: all others lack only what that row says.
        const u32 count = min(SIDE, p.n - rows * SIDE);
        for (u32 i = 0; i < count; i++) {
            const u32 row = upper ? count - 1 - i : i;
            if (line == 0 && !p.unit) known[row][column] /= matrix[row][row];
            __syncthreads();
            const T value = known[row][column];
            for (u32 e = 0; e < EACH; e++) {
                u32 other = line + e * (SIDE / EACH);
                bool after = upper ? other < row : other > row;
                if (after && other < count) known[other][column] -= matrix[other][row] * value;
            }
            __syncthreads();
        }
        for (u32 e = 0; e < EACH; e++) {
            u32 row = rows * SIDE + line + e * (SIDE / EACH);
            if (row < p.n && inside) x[(u64)row * p.k + first + column] = known[line + e * (SIDE / EACH)][column];
        }
        // What was written is read by other threads of the block.
        __threadfence_block();
    }
}
