// Householder's reflections: A = Q R of matrices of m rows and n columns, as many of them as are `width`, from a column on. What is right of
// these is reflected by reflect.cu, by which Q is put together as well.
//
// A warp has a column in registers, a lane every 32nd row. The warp whose turn it is makes a reflection of its column and tells it by shared
// memory, and after one barrier all others reflect theirs. Of columns that are done, which are reflections already, the same
// products are what T wants: H₀ H₁ … = I − V T Vᵀ (Schreiber and Van Loan, "A storage-efficient WY representation for products of Householder
// transformations", 1989).
#include "factor.cuh"

using T = V_T;

struct Qr {
    const T* from;  // the matrices, or what earlier reflections left of them
    T* r;           // of the first answer
    T* v;           // reflections, `stride` elements each, the first row of the panel first
    T* t;           // a row of its panel's T for each reflection
    u64 line;       // elements of an answer
    u64 stride;
    u32 m, n, k;
    u32 first, width;  // columns
    u32 rows;          // of R
};

// Rows of a lane, and columns at most.
constexpr u32 ROWS = V_ROWS, WARPS = V_WARPS;
// Elements from row to row of T.
constexpr u32 WIDE = 32;
// Rows of a lane that are there or not together: what reads them has so many loads under way at once.
constexpr u32 STEP = ROWS > 16 ? ROWS / 4 : 4;
// Sums of a lane, so that they wait less.
constexpr u32 SUMS = 4;

// Work for each of a lane's rows, as far as there are any.
template <typename Work>
__device__ __forceinline__ void each(u32 rows, Work work) {
#pragma unroll
    for (u32 i = 0; i < ROWS; i++) {
        if (i % STEP == 0 && 32 * i >= rows) break;
        work(i);
    }
}

__device__ __forceinline__ T sum_of_lanes(T x) {
#pragma unroll
    for (u32 by = 16; by > 0; by /= 2) x += __shfl_xor_sync(0xffffffffu, x, by);
    return x;
}

// Of a number and a NaN the number.
__device__ __forceinline__ float larger(float x, float y) { return fmaxf(x, y); }
__device__ __forceinline__ double larger(double x, double y) { return fmax(x, y); }

// A number with the sign of another one.
__device__ __forceinline__ float with_sign(float x, float of) { return copysignf(x, of); }
__device__ __forceinline__ double with_sign(double x, double of) { return copysign(x, of); }
// Of numbers that are far from what a float has no room for; to two units of the last place.
__device__ __forceinline__ float quotient(float x, float y) { return __fdividef(x, y); }
__device__ __forceinline__ double quotient(double x, double y) { return x / y; }

// Between these bounds squares can be added up as they are.
__device__ __forceinline__ bool is_even(float least, float most) { return least >= 0x1p-60f && most <= 0x1p120f; }
__device__ __forceinline__ bool is_even(double least, double most) { return least >= 0x1p-900 && most <= 0x1p1000; }

// The power of two that brings a number near 1.
__device__ __forceinline__ float to_one(float x) {
    const i32 exponent = 254 - (i32)(__float_as_uint(x) >> 23);
    return __int_as_float((exponent < 1 ? 1 : exponent > 253 ? 253 : exponent) << 23);
}
__device__ __forceinline__ double to_one(double x) {
    const i64 exponent = 2046 - (__double_as_longlong(x) >> 52);
    return __longlong_as_double((exponent < 1 ? 1 : exponent > 2045 ? 2045 : exponent) << 52);
}

extern "C" __global__ void __launch_bounds__(32 * WARPS) V_NAME(const __grid_constant__ Qr p) {
    __shared__ T reflection[2][32 * ROWS];
    __shared__ T products[WARPS][WIDE + 1];
    __shared__ T factors[WARPS];
    __shared__ T tile[2][32][WARPS + 1];
    const u32 t = threadIdx.x, lane = t % 32, own = t / 32, rows = p.m - p.first, width = p.width;
    const T* from = p.from + blockIdx.x * ((u64)p.m * p.n) + (u64)p.first * (p.n + 1);
    T* r = p.r + blockIdx.x * p.line + (u64)p.first * p.n;
    T a[ROWS];
#pragma unroll
    for (u32 i = 0; i < ROWS; i++) a[i] = (T)0;
    // Neighbouring threads read neighbouring elements, and change them for their own. Of rows that are not there the last one is read instead.
    const u32 down = t / width, across = t % width;
    each(rows, [&](u32 i) {
        const T x = from[(u64)min(down + 32 * i, rows - 1) * p.n + across];
        a[i] = down + 32 * i < rows ? x : (T)0;
    });
    each(rows, [&](u32 i) {
        tile[i % 2][down][across] = a[i];
        __syncthreads();
        a[i] = tile[i % 2][lane][own];
    });
    // Left of the panel there are zeros, and below the last.
    for (u32 e = t; e < width * p.first; e += blockDim.x) r[(u64)(e / p.first) * p.n + e % p.first] = (T)0;
    if (p.first + width == p.k)
        for (u64 e = (u64)width * p.n + t; e < (u64)(p.rows - p.first) * p.n; e += blockDim.x) r[e] = (T)0;

#pragma unroll 1
    for (u32 j = 0; j < width; j++) {
        T* told = reflection[j % 2];
        T above = (T)0;
        if (own == j) {
            // What is above is done with.
            const T alpha = __shfl_sync(0xffffffffu, a[0], j), top = a[0];
            if (lane <= j) a[0] = (T)0;
            T up = (T)1, sum, most;
            bool reflects = true;
#pragma unroll 1
            for (bool again = false;; again = true) {
                T sums[SUMS] = {};
                most = (T)0;
                each(rows, [&](u32 i) {
                    const T x = a[i] * up;
                    sums[i % SUMS] = more(sums[i % SUMS], x, x);
                    most = larger(most, magnitude(x));
                });
                sum = sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
                if (again || is_even(sum, more(sum, alpha, alpha))) break;
#pragma unroll
                for (u32 by = 16; by > 0; by /= 2) most = larger(most, __shfl_xor_sync(0xffffffffu, most, by));
                // A NaN is no zero.
                reflects = most > (T)0 || sum != sum;
                up = to_one(larger(magnitude(alpha), most));
            }
            const T head = alpha * up, norm = sqrt(more(sum, head, head)), far = magnitude(head) + norm;
            const T factor = reflects ? quotient(far, norm) : (T)0, scale = reflects ? with_sign(quotient((T)1, far), head) : (T)0;
            each(rows, [&](u32 i) {
                a[i] = a[i] * up * scale;
                if (i == 0 && lane == j) a[i] = (T)1;
                told[lane + 32 * i] = a[i];
            });
            if (lane == 0) factors[j] = factor;
            above = lane < j ? top : lane > j ? (T)0 : reflects ? with_sign(norm, -head) / up : alpha;
        }
        __syncthreads();
        if (own == j) {
            // Others wait for what is above no longer.
            if (lane < width) r[(u64)lane * p.n + p.first + j] = above;
            continue;
        }
        T sums[SUMS] = {};
        each(rows, [&](u32 i) { sums[i % SUMS] = more(sums[i % SUMS], told[lane + 32 * i], a[i]); });
        const T product = sum_of_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
        if (own < j) {
            if (lane == 0) products[own][j] = product;
        } else {
            const T times = -factors[j] * product;
            each(rows, [&](u32 i) { a[i] = more(a[i], told[lane + 32 * i], times); });
        }
    }
    __syncthreads();
    T* v = p.v + (blockIdx.x * (u64)p.k + p.first + own) * p.stride + lane;
    each(rows, [&](u32 i) {
        if (32 * i < rows) v[32 * i] = a[i];
    });
    // A row of T, of which a lane has a column: T[i][j] = −τⱼ (T[i][i] Vᵢᵀ vⱼ + … + T[i][j - 1] Vⱼ₋₁ᵀ vⱼ).
    T sum = (T)0, element = (T)0;
#pragma unroll 4
    for (u32 j = 0; j < width; j++) {
        const T known = __shfl_sync(0xffffffffu, sum, j), factor = factors[j];
        const T here = j < own ? (T)0 : j == own ? factor : -factor * known;
        if (lane == j) element = here;
        if (lane > j && lane < width) sum = more(sum, here, products[j][lane]);
    }
    p.t[(blockIdx.x * (u64)p.k + p.first + own) * WIDE + lane] = element;
}
