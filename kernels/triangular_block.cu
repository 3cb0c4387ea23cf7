// Some of the rows of a system of equations whose matrix is a triangle: 64 of them, for 32 right sides a block. What is known of the others has been
// taken off them before, by the kernel of take_off.cu. Right sides may lie as columns or as rows: those of Cholesky's factorisation are the rows
// below a tile.
#include "factor.cuh"

using T = V_T;

struct Block {
    T* out;
    const T* a;
    const T* from;  // the right sides, as far as they are known
    const T* told;  // of Cholesky's: a number for each matrix that is not 0 where it was refused
    u64 a_batch, from_batch, out_batch;   // elements from matrix to matrix
    u64 a_row, down, right;               // from row to row; from element to element of a right side, and from one of these to the next
    u32 rows, k;    // rows, right sides
    u32 tiles;      // blocks of one matrix
    u32 upper, unit, transposed;
};

constexpr u32 COLUMNS = THREADS / 32 * RIGHT;

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Block p) {
    __shared__ Triangle<T> by;
    const u32 t = threadIdx.x, lane = t % 32, rows = p.rows;
    const u64 number = blockIdx.x / p.tiles;
    if (p.told && p.told[number * p.out_batch] > (T)0) return;
    const T* a = p.a + number * p.a_batch;
    // Transposed, the upper triangle is a lower one; backwards, it is one as well.
    const bool backwards = (p.upper != 0) != (p.transposed != 0);
    auto row = [&](u32 i) -> u64 { return backwards ? rows - 1 - i : i; };
    // Neighbouring threads read neighbouring elements, whichever way the matrix is seen; of a thread they are in one column there.
    const u32 across = t % SIDE, down = t / SIDE;
    constexpr u32 STEP = THREADS / SIDE;
    const T* place = a + row(down) * p.a_row + row(across);
    const i64 next = backwards ? -(i64)(STEP * p.a_row) : (i64)(STEP * p.a_row);
    T share[SHARE];
#pragma unroll
    for (u32 e = 0; e < SHARE; e++) {
        const u32 other = down + e * STEP, i = p.transposed ? across : other, j = p.transposed ? other : across;
        share[e] = i < rows && j <= i ? place[e * next] : (T)0;
    }
    const u32 column = blockIdx.x % p.tiles * COLUMNS + t / 32 * RIGHT;
    const T* from = p.from + number * p.from_batch + column * p.right;
    T* to = p.out + number * p.out_batch + column * p.right;
    const u64 near = row(lane) * p.down, far = row(lane + 32) * p.down;
    T low[RIGHT], high[RIGHT];
#pragma unroll
    for (u32 r = 0; r < RIGHT; r++) {
        const bool inside = column + r < p.k;
        low[r] = inside && lane < rows ? from[near + r * p.right] : (T)0;
        high[r] = inside && lane + 32 < rows ? from[far + r * p.right] : (T)0;
    }
    bool tame = true;
    if (t < rows) {
        const T d = p.unit ? (T)1 : a[row(t) * (p.a_row + 1)];
        by.diagonal[t] = d;
        by.inverse[t] = (T)1 / d;
        tame = is_tame(d);
    }
    T* kept = p.transposed ? &by.lower[down][across] : &by.lower[across][down];
    const u32 apart = p.transposed ? STEP * (SIDE + 1) : STEP;
#pragma unroll
    for (u32 e = 0; e < SHARE; e++) kept[e * apart] = share[e];
    tame = __syncthreads_and(tame);
    forward(by, rows, tame, low, high);
#pragma unroll
    for (u32 r = 0; r < RIGHT; r++) {
        if (column + r >= p.k) break;
        if (lane < rows) to[near + r * p.right] = low[r];
        if (lane + 32 < rows) to[far + r * p.right] = high[r];
    }
}
