// Elimination with row exchanges: A = P L U of matrices of m rows and n columns, k of them steps. Of each the answer has, one after the
// other: L below the diagonal and U in one matrix; for each step the row that was exchanged, counted from 1; the rows of A in the order of those of L U,
// and the inverse of that order; its sign; the first element of U's diagonal that is 0, counted from 1, or 0.
//
// V_SMALL: matrices of up to 32 rows and columns, a warp each. Larger ones go panel by panel of 64 columns. V_PANEL: a block eliminates in a panel,
// few columns at a time, which its threads have in registers, each thread its rows: rows stay where they are, and only remember at which
// place they stand, so that a step is one barrier. V_EXCHANGE moves rows to their places in all columns. What is right of the
// panel's own rows is solved for by triangular_block.cu, and the product of both is taken off what is left by take_off.cu, which
// also writes the next panel, column by column, to memory of its own. V_END: what follows from the order.
#include "factor.cuh"

using T = V_T;

struct Lu {
    T* out;
    const T* from;   // the matrices of V_SMALL, the exchanges of V_ORDER
    T* panels;       // 64 columns of `stride` rows for each matrix
    u32* homes;      // for each row of a panel which one it was before
    u64 line;        // elements of an answer
    u64 count;       // matrices
    u64 stride;
    u32 m, n;
    u32 first, width;  // columns of the panel
    u32 tiles;         // blocks of a matrix
};

constexpr u32 NOWHERE = 0xffffffffu;
// The lane, of the first `lanes`, whose value is the largest, and of equal ones that whose place is the first. Others have what one of these has.
template <u32 LANES>
__device__ __forceinline__ u32 best_of_lanes(T value, u32 place, u32 lanes) {
    T most = value;
#pragma unroll
    for (u32 by = LANES / 2; by > 0; by /= 2) {
        const T other = __shfl_xor_sync(0xffffffffu, most, by);
        most = other > most ? other : most;
    }
    u32 found = __ballot_sync(0xffffffffu, value == most && threadIdx.x % 32 < lanes);
    if (__popc(found) == 1) return __ffs(found) - 1;
    u32 first = value == most ? place : NOWHERE;
#pragma unroll 1
    for (u32 by = LANES / 2; by > 0; by /= 2) first = min(first, __shfl_xor_sync(0xffffffffu, first, by));
    found = __ballot_sync(0xffffffffu, value == most && place == first && threadIdx.x % 32 < lanes);
    return __ffs(found) - 1;
}
// As what a candidate for a pivot counts: a NaN is none, but where it stands at the place already, where nothing is larger.
__device__ __forceinline__ T weight(T x, bool is_there) {
    const T none = is_there ? (T)__int_as_float(0x7f800000) : (T)-1;
    return x == x ? magnitude(x) : none;
}

#if V_SMALL
// A product that is rounded by itself, as that of the host's elimination of small matrices.
__device__ __forceinline__ float rounded(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ double rounded(double a, double b) { return __dmul_rn(a, b); }

constexpr u32 SMALL = 32;
constexpr u32 WARPS = 4;

extern "C" __global__ void __launch_bounds__(32 * WARPS) V_NAME(const __grid_constant__ Lu p) {
    __shared__ T all[WARPS][SMALL][SMALL + 1];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, m = p.m, n = p.n, steps = min(m, n);
    const u64 number = (u64)blockIdx.x * WARPS + warp;
    if (number >= p.count) return;
    T(&a)[SMALL][SMALL + 1] = all[warp];
    const T* from = p.from + number * m * n;
    T* to = p.out + number * p.line;
    for (u32 e = lane; e < m * n; e += 32) a[e / n][e % n] = from[e];
    __syncwarp();
    u32 order = lane, exchanged = lane;
    for (u32 j = 0; j < steps; j++) {
        const T value = lane >= j && lane < m ? weight(a[lane][j], lane == j) : (T)-2;
        const u32 place = best_of_lanes<32>(value, lane, 32);
        if (lane == j) exchanged = place;
        // A column of zeros is left as it is.
        if (a[place][j] == (T)0) continue;
        const u32 here = __shfl_sync(0xffffffffu, order, j), there = __shfl_sync(0xffffffffu, order, place);
        if (lane == j) order = there;
        else if (lane == place) order = here;
        T upper = (T)0, lower = (T)0;
        if (lane < n) upper = a[place][lane], lower = a[j][lane];
        __syncwarp();
        if (lane < n) {
            a[place][lane] = lower;
            a[j][lane] = upper;
        }
        __syncwarp();
        if (lane > j && lane < m) {
            const T factor = a[lane][j] / a[j][j];
            a[lane][j] = factor;
#pragma unroll 4
            for (u32 c = j + 1; c < n; c++) a[lane][c] = a[lane][c] - rounded(factor, a[j][c]);
        }
        __syncwarp();
    }
    const bool is_step = lane < steps;
    const u32 odd = __popc(__ballot_sync(0xffffffffu, is_step && exchanged != lane)) % 2;
    const u32 zeros = __ballot_sync(0xffffffffu, is_step && a[lane][lane] == (T)0);
    for (u32 e = lane; e < m * n; e += 32) to[e] = a[e / n][e % n];
    to += m * n;
    if (is_step) to[lane] = (T)(exchanged + 1);
    to += steps;
    if (lane < m) {
        to[lane] = (T)order;
        to[m + order] = (T)lane;
    }
    if (lane == 0) {
        to[2 * m] = odd ? (T)-1 : (T)1;
        to[2 * m + 1] = (T)__ffs(zeros);
    }
}
#endif

#if V_PANEL
// At most so many threads; a launch has as many as its rows want, a power of two.
constexpr u32 WORKERS = 512;
// Rows of a thread, and columns that it has in registers.
constexpr u32 ROWS = V_ROWS, WIDE = V_WIDE;
// Columns of which a thread's elements are read at once.
constexpr u32 TOGETHER = 64 / ROWS / sizeof(T);

struct alignas(16) Candidate {
    T row[WIDE];
    T value;
    u32 place;
};

extern "C" __global__ void __launch_bounds__(WORKERS) V_NAME(const __grid_constant__ Lu p) {
    __shared__ T lower[SIDE][SIDE + 1];
    __shared__ T upper[SIDE][WIDE];
    __shared__ Candidate candidates[2][WORKERS / 32];
    __shared__ u32 chosen_homes[WIDE];
    const u32 workers = blockDim.x, warps = workers / 32, t = threadIdx.x, lane = t % 32, warp = t / 32, rows = p.m - p.first;
    T* panel = p.panels + blockIdx.x * (p.stride * SIDE);
    T* pivots = p.out + blockIdx.x * p.line + (u64)p.m * p.n + p.first;
    T v[ROWS][WIDE];
    // At which place each row stands. Memory is there for rows that are not: they stand nowhere, and nothing is chosen of them.
    u32 place[ROWS];
#pragma unroll
    for (u32 i = 0; i < ROWS; i++) place[i] = t + i * workers < rows ? t + i * workers : NOWHERE;

#pragma unroll 1
    for (u32 start = 0; start < p.width; start += WIDE) {
        const u32 wide = min(WIDE, p.width - start);
        T* columns = panel + start * p.stride + t;
#pragma unroll
        for (u32 i = 0; i < ROWS; i++)
#pragma unroll
            for (u32 c = 0; c < WIDE; c++) v[i][c] = columns[c * p.stride + i * workers];
#pragma unroll
        for (u32 i = 0; i < ROWS; i++)
            if (place[i] < start)
#pragma unroll
                for (u32 c = 0; c < WIDE; c++) upper[place[i]][c] = v[i][c];
        if (start > 0) {
            // What was eliminated with in the rows that the last steps chose.
            for (u32 e = t; e < WIDE * start; e += workers) {
                const u32 row = start - WIDE + e % WIDE, c = e / WIDE;
                if (c < row) lower[c][row] = panel[c * p.stride + chosen_homes[e % WIDE]];
            }
            __syncthreads();
            // Rows that are done with: a warp a column, a lane two of them.
            for (u32 c = warp; c < WIDE; c += warps) {
                T low = upper[lane][c], high = upper[lane + 32][c];
#pragma unroll 4
                for (u32 j = 0; j < start; j++) {
                    T known = __shfl_sync(0xffffffffu, j < 32 ? low : high, j % 32);
                    if (lane > j) low = less(low, -lower[j][lane], known);
                    if (lane + 32 > j) high = less(high, -lower[j][lane + 32], known);
                }
                upper[lane][c] = low;
                upper[lane + 32][c] = high;
            }
            __syncthreads();
#pragma unroll 1
            for (u32 j = 0; j < start; j += TOGETHER) {
                const T* known = panel + j * p.stride + t;
                T factor[TOGETHER][ROWS];
#pragma unroll
                for (u32 e = 0; e < TOGETHER; e++)
#pragma unroll
                    for (u32 i = 0; i < ROWS; i++) factor[e][i] = -known[e * p.stride + i * workers];
#pragma unroll
                for (u32 e = 0; e < TOGETHER; e++) {
                    T row[WIDE];
#pragma unroll
                    for (u32 c = 0; c < WIDE; c++) row[c] = upper[j + e][c];
#pragma unroll
                    for (u32 i = 0; i < ROWS; i++)
#pragma unroll
                        for (u32 c = 0; c < WIDE; c++) v[i][c] = less(v[i][c], factor[e][i], row[c]);
                }
            }
#pragma unroll
            for (u32 i = 0; i < ROWS; i++)
                if (place[i] < start)
#pragma unroll
                    for (u32 c = 0; c < WIDE; c++) v[i][c] = upper[place[i]][c];
        }
        // The column that is eliminated is always the first that a thread has.
#pragma unroll 1
        for (u32 step = 0; step < wide; step++) {
            const u32 j = start + step;
            T value = (T)-2;
            u32 own = NOWHERE;
#pragma unroll
            for (u32 i = 0; i < ROWS; i++) {
                const bool is_candidate = (place[i] != NOWHERE) & (place[i] >= j);
                const T size = weight(v[i][0], place[i] == j), other = is_candidate ? size : (T)-2;
                const bool is_better = (other > value) | ((other == value) & (place[i] < own));
                own = is_better ? place[i] : own;
                value = is_better ? other : value;
            }
            Candidate* told = candidates[j % 2];
            if (lane == best_of_lanes<32>(value, own, 32)) {
                Candidate mine = {{}, value, own};
#pragma unroll
                for (u32 i = 0; i < ROWS; i++)
#pragma unroll
                    for (u32 c = 0; c < WIDE; c++) mine.row[c] = place[i] == own ? v[i][c] : mine.row[c];
                told[warp] = mine;
            }
            __syncthreads();
            const Candidate& of_lane = told[lane % warps];
            const Candidate chosen = told[best_of_lanes<WORKERS / 32>(of_lane.value, of_lane.place, warps)];
            const T pivot = chosen.row[0];
            if (t == 0) pivots[j] = (T)(p.first + chosen.place + 1);
            // What a row is divided by, or times what; a column of zeros is left as it is.
            T factors[ROWS];
            if (is_tame(pivot)) {
                const T inverse = (T)1 / pivot;
#pragma unroll
                for (u32 i = 0; i < ROWS; i++) factors[i] = v[i][0] * inverse;
            } else {
#pragma unroll
                for (u32 i = 0; i < ROWS; i++) factors[i] = v[i][0] / pivot;
            }
            u32 home = NOWHERE;
#pragma unroll
            for (u32 i = 0; i < ROWS; i++) {
                const bool is_chosen = place[i] == chosen.place;
                home = is_chosen ? t + i * workers : home;
                place[i] = is_chosen ? j : place[i] == j ? chosen.place : place[i];
                const bool is_below = (place[i] > j) & (pivot != (T)0);
                const T factor = factors[i];
                columns[step * p.stride + i * workers] = is_below ? factor : v[i][0];
#pragma unroll
                for (u32 c = 1; c < WIDE; c++) {
                    const T rest = less(v[i][c], -factor, chosen.row[c]);
                    v[i][c - 1] = is_below ? rest : v[i][c];
                }
            }
            if (home != NOWHERE) chosen_homes[step] = home;
        }
        // The columns are read by other threads of the block.
        __syncthreads();
    }
#pragma unroll
    for (u32 i = 0; i < ROWS; i++)
        if (place[i] != NOWHERE) p.homes[blockIdx.x * p.stride + place[i]] = t + i * workers;
}
#endif

#if V_EXCHANGE
constexpr u32 COLUMNS = THREADS / 32 * RIGHT;

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Lu p) {
    __shared__ T turned[SIDE][SIDE + 1];
    const u32 t = threadIdx.x, lane = t % 32, warp = t / 32, n = p.n, rows = p.m - p.first, width = p.width;
    const u64 number = blockIdx.x / p.tiles;
    const u32 tile = blockIdx.x % p.tiles;
    T* matrix = p.out + number * p.line;
    const T* pivots = matrix + (u64)p.m * n + p.first;
    const T* panel = p.panels + number * (p.stride * SIDE);
    const u32* homes = p.homes + number * p.stride;
    T* top = matrix + (u64)p.first * n;
    // Blocks are: the order of rows, what the panel comes to, 64 rows a block, other columns.
    if (tile == 0) {
        T* order = matrix + (u64)p.m * n + min(p.m, n) + p.first;
        if (p.first == 0) {
            for (u32 i = t; i < rows; i += THREADS) order[i] = (T)homes[i];
            return;
        }
        // Each row that moved is a panel's own, or one that was exchanged with it.
        u32 at = t < width ? t : t < 2 * width ? (u32)pivots[t - width] - 1 - p.first : 0;
        T row = t < 2 * width ? order[homes[at]] : (T)0;
        __syncthreads();
        if (t < 2 * width) order[at] = row;
        return;
    }
    const u32 blocks = (rows + SIDE - 1) / SIDE;
    if (tile <= blocks) {
        const u32 begin = (tile - 1) * SIDE;
        for (u32 e = t; e < SIDE * width; e += THREADS) {
            u32 r = e % SIDE, c = e / SIDE;
            if (begin + r < rows) turned[r][c] = panel[c * p.stride + homes[begin + r]];
        }
        __syncthreads();
        for (u32 e = t; e < SIDE * SIDE; e += THREADS) {
            u32 r = e / SIDE, c = e % SIDE;
            if (begin + r < rows && c < width) top[(u64)(begin + r) * n + p.first + c] = turned[r][c];
        }
        return;
    }
    // Columns before the panel are a multiple of what a block has: all of a block are on one side.
    const u32 others = n - width, column = (tile - 1 - blocks) * COLUMNS + warp * RIGHT;
    T* place = top + column + (column >= p.first ? width : 0);
    // Rows that move: for a lane two of the panel's own, and the two that they were exchanged with.
    u32 to[4];
    T v[4][RIGHT];
#pragma unroll
    for (u32 e = 0; e < 4; e++) {
        const u32 j = lane + e % 2 * 32;
        to[e] = j >= width ? NOWHERE : e < 2 ? j : (u32)pivots[j] - 1 - p.first;
        const T* from = place + (to[e] == NOWHERE ? 0 : (u64)homes[to[e]] * n);
#pragma unroll
        for (u32 r = 0; r < RIGHT; r++) v[e][r] = to[e] != NOWHERE && column + r < others ? from[r] : (T)0;
    }
    __syncwarp();
#pragma unroll
    for (u32 e = 0; e < 4; e++) {
        T* there = place + (u64)to[e] * n;
#pragma unroll
        for (u32 r = 0; r < RIGHT; r++)
            if (to[e] != NOWHERE && column + r < others) there[r] = v[e][r];
    }
}
#endif

#if V_END
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Lu p) {
    __shared__ u32 odd[THREADS / 32], zero[THREADS / 32];
    const u32 t = threadIdx.x, steps = min(p.m, p.n);
    const T* matrix = p.out + blockIdx.x * p.line;
    const T* pivots = matrix + (u64)p.m * p.n;
    T* order = p.out + blockIdx.x * p.line + (u64)p.m * p.n + steps;
    for (u32 i = t; i < p.m; i += THREADS) order[p.m + (u32)order[i]] = (T)i;
    u32 exchanges = 0, first = NOWHERE;
    for (u32 i = t; i < steps; i += THREADS) {
        if (pivots[i] != (T)(i + 1)) exchanges++;
        if (first == NOWHERE && matrix[(u64)i * p.n + i] == (T)0) first = i;
    }
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) {
        exchanges += __shfl_xor_sync(0xffffffffu, exchanges, by);
        first = min(first, __shfl_xor_sync(0xffffffffu, first, by));
    }
    if (t % 32 == 0) odd[t / 32] = exchanges, zero[t / 32] = first;
    __syncthreads();
    if (t > 0) return;
    for (u32 w = 1; w < THREADS / 32; w++) {
        exchanges += odd[w];
        first = min(first, zero[w]);
    }
    order[2 * p.m] = exchanges % 2 ? (T)-1 : (T)1;
    order[2 * p.m + 1] = first == NOWHERE ? (T)0 : (T)(first + 1);
}
#endif
