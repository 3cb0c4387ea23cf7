// Convolutions and their gradients as products of matrices whose elements are found where they lie (implicit GEMM): the windows are
// never in memory.
//
// What is computed is said by V_FORWARD, V_INPUT or V_WEIGHT. Of a product's inner axis, each step's places are worked out once for the
// block and kept in shared memory; each thread knows the place of the one column of the second operand that it brings.
#include "index.cuh"
#include "mma.cuh"

using T = V_T;
using SUM = V_SUM;

// A tile's rows and columns, and how deep a step is. V_FEW: few rows, as groups of few channels have.
constexpr int BM = V_FEW ? 16 : 64, BN = V_FEW ? 256 : 128;
constexpr int BK = V_MMA ? 32 : 16, THREADS = 256;

__device__ __forceinline__ SUM widen(T x) {
#if V_HALF
    return to_f32(x);
#else
    return x;
#endif
}
__device__ __forceinline__ float narrow(float x, float) { return x; }
__device__ __forceinline__ double narrow(double x, double) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

struct Conv {
    void* out;
    const T* x;      // or the gradient of the result, where the input's is computed
    const T* w;      // or the gradient of the result, where the weight's is computed
    SUM* partial;    // sums of parts of a long inner axis, where there are several
    u32 batch, groups;
    u32 c, o;        // channels of a group
    u32 depth;       // c times the kernel's elements
    u32 volume;      // the kernel's elements
    u32 m, n;        // of the product
    u64 k;
    u64 inputs, outputs;   // elements of a channel
    u32 splits;
    u32 tiles_m, tiles_n;
    u32 unused;
    u64 chunk;       // of the inner axis, for one split
    Divisor in[3], kernel[3], result[3], stride[3];
    i32 padding[3], dilation[3];
};

// A step of the inner axis.
struct Entry {
    i64 a, b;
    i32 z, y, x;
    i32 valid;
};

// The place of a column of the second operand.
struct Column {
    i64 base;
    i32 z, y, x;
    bool valid;
};

// The three coordinates of a position.
__device__ __forceinline__ void coordinates(const Divisor (&sizes)[3], u32 at, i32& z, i32& y, i32& x) {
    u32 line = sizes[2].divide(at);
    x = (i32)(at - line * sizes[2].size);
    u32 plane = sizes[1].divide(line);
    y = (i32)(line - plane * sizes[1].size);
    z = (i32)plane;
}

__device__ __forceinline__ i64 linear(const Divisor (&sizes)[3], i32 z, i32 y, i32 x) {
    return ((i64)z * sizes[1].size + y) * sizes[2].size + x;
}

// An output's first place in the input.
__device__ __forceinline__ void window(const Conv& p, i32& z, i32& y, i32& x) {
    z = z * (i32)p.stride[0].size - p.padding[0];
    y = y * (i32)p.stride[1].size - p.padding[1];
    x = x * (i32)p.stride[2].size - p.padding[2];
}

__device__ __forceinline__ Entry entry(const Conv& p, u32 group, u64 k, u64 end) {
    Entry e = {0, 0, 0, 0, 0, k < end};
    if (!e.valid) return e;
#if V_WEIGHT
    u64 image = k >> 32 ? k / p.outputs : (u32)k / (u32)p.outputs;
    u32 at = (u32)(k - image * p.outputs);
    coordinates(p.result, at, e.z, e.y, e.x);
    window(p, e.z, e.y, e.x);
    e.a = (i64)(image * p.groups + group) * p.o * p.outputs + at;
    e.b = (i64)(image * p.groups + group) * p.c * p.inputs + linear(p.in, e.z, e.y, e.x);
#else
    u32 channel = (u32)k / p.volume, at = (u32)k - channel * p.volume;
    coordinates(p.kernel, at, e.z, e.y, e.x);
    e.z *= p.dilation[0];
    e.y *= p.dilation[1];
    e.x *= p.dilation[2];
#if V_FORWARD
    e.a = (i64)k;
    e.b = (i64)channel * p.inputs + linear(p.in, e.z, e.y, e.x);
#else
    e.a = (i64)channel * p.depth + at;
    e.b = (i64)channel * p.outputs;
#endif
#endif
    return e;
}

__device__ __forceinline__ Column column(const Conv& p, u32 group, u32 n) {
    Column c = {0, 0, 0, 0, n < p.n};
    if (!c.valid) return c;
#if V_WEIGHT
    u32 channel = n / p.volume;
    coordinates(p.kernel, n - channel * p.volume, c.z, c.y, c.x);
    c.z *= p.dilation[0];
    c.y *= p.dilation[1];
    c.x *= p.dilation[2];
    c.base = (i64)channel * p.inputs + linear(p.in, c.z, c.y, c.x);
#elif V_FORWARD
    u32 image = n / (u32)p.outputs;
    coordinates(p.result, n - image * (u32)p.outputs, c.z, c.y, c.x);
    window(p, c.z, c.y, c.x);
    c.base = (i64)((u64)image * p.groups + group) * p.c * p.inputs + linear(p.in, c.z, c.y, c.x);
#else
    u32 image = n / (u32)p.inputs;
    coordinates(p.in, n - image * (u32)p.inputs, c.z, c.y, c.x);
    c.z += p.padding[0];
    c.y += p.padding[1];
    c.x += p.padding[2];
    c.base = (i64)((u64)image * p.groups + group) * p.o * p.outputs;
#endif
    return c;
}

__device__ __forceinline__ bool step_of(const Divisor& stride, u32 size, i32& t) {
    if (t < 0) return false;
    u32 q = stride.divide((u32)t);
    bool fits = q * stride.size == (u32)t && q < size;
    t = (i32)q;
    return fits;
}

// The second operand's element.
__device__ __forceinline__ T second(const Conv& p, const Entry& e, const Column& c) {
#if V_INPUT
    i32 z = c.z - e.z, y = c.y - e.y, x = c.x - e.x;
    bool inside = c.valid && e.valid && step_of(p.stride[0], p.result[0].size, z) &&
                  step_of(p.stride[1], p.result[1].size, y) && step_of(p.stride[2], p.result[2].size, x);
    return inside ? p.x[c.base + e.b + linear(p.result, z, y, x)] : T();
#else
    bool inside = c.valid && e.valid && (u32)(c.z + e.z) < p.in[0].size && (u32)(c.y + e.y) < p.in[1].size &&
                  (u32)(c.x + e.x) < p.in[2].size;
    return inside ? p.x[c.base + e.b] : T();
#endif
}

// Where the first operand's rows begin, and how far they are apart.
__device__ __forceinline__ const T* first(const Conv& p, u32 group, i64& row) {
#if V_WEIGHT
    row = (i64)p.outputs;
    return p.w;
#elif V_FORWARD
    row = p.depth;
    return p.w + (i64)group * p.o * p.depth;
#else
    row = p.volume;
    return p.w + (i64)group * p.o * p.depth;
#endif
}

__device__ __forceinline__ void store(const Conv& p, u32 group, u32 split, u32 row, u32 n, SUM sum) {
    if (row >= p.m || n >= p.n) return;
#if V_WEIGHT
    u64 at = ((u64)group * p.o + row) * p.depth + n;
    if (p.splits > 1) {
        p.partial[(u64)split * p.groups * p.o * p.depth + at] = sum;
        return;
    }
#elif V_FORWARD
    u32 image = n / (u32)p.outputs;
    u64 at = (((u64)image * p.groups + group) * p.o + row) * p.outputs + (n - image * (u32)p.outputs);
#else
    u32 image = n / (u32)p.inputs;
    u64 at = (((u64)image * p.groups + group) * p.c + row) * p.inputs + (n - image * (u32)p.inputs);
#endif
    ((T*)p.out)[at] = narrow(sum, T());
}

#if V_WEIGHT
// The sums of the parts, in their order.
__device__ void add_parts(const Conv& p) {
    u64 count = (u64)p.groups * p.o * p.depth;
    u64 at = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (at >= count) return;
    SUM sum = 0;
    for (u32 s = 0; s < p.splits; s++) sum += p.partial[s * count + at];
    ((T*)p.out)[at] = narrow(sum, T());
}
#endif

#if V_FEW
extern "C" __global__ void __launch_bounds__(THREADS, 2) V_NAME(const __grid_constant__ Conv p) {
#else
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Conv p) {
#endif
#if V_WEIGHT
    if (!p.x) return add_parts(p);
#endif
    constexpr int A_LOADS = BM * BK / THREADS, B_LOADS = BN * BK / THREADS;
    __shared__ Entry entries[2][BK];
#if V_MMA
    // Lines of 16-byte chunks, padded by one so that eight lines' chunks lie in different banks.
    constexpr int A_LINE = BK + 8, B_LINE = BN + 8;
    __shared__ __align__(16) u16 as[BM * A_LINE];
    __shared__ __align__(16) u16 bs[BK * B_LINE];
#else
    __shared__ __align__(16) SUM as[BK][BM + 4];
    __shared__ __align__(16) SUM bs[BK][BN];
#endif
    u32 block = blockIdx.x;
    u32 tile_m = block % p.tiles_m;
    block /= p.tiles_m;
    u32 tile_n = block % p.tiles_n;
    block /= p.tiles_n;
    u32 group = block % p.groups, split = block / p.groups;
    u64 begin = split * p.chunk, end = min(begin + p.chunk, p.k);

    u32 thread = threadIdx.x;
    // This thread brings one column of the second operand, and one step of some rows of the first.
    u32 column_at = thread % BN, column_k = thread / BN;
    Column mine = column(p, group, tile_n * BN + column_at);
    u32 row_k = thread % BK, row_at = thread / BK;
    i64 row_stride;
    const T* rows = first(p, group, row_stride);
    rows += (i64)(tile_m * BM) * row_stride;
    u32 rows_left = p.m - tile_m * BM;

    T a[A_LOADS], b[B_LOADS];
    auto load = [&](const Entry* table) {
        Entry e = table[row_k];
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            u32 r = row_at + i * (THREADS / BK);
            a[i] = r < rows_left && e.valid ? rows[r * row_stride + e.a] : T();
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++) b[i] = second(p, table[column_k + i * (THREADS / BN)], mine);
    };
    auto keep = [&]() {
#pragma unroll
        for (int i = 0; i < A_LOADS; i++) {
            u32 r = row_at + i * (THREADS / BK);
#if V_MMA
            as[r * A_LINE + row_k] = a[i].bits;
#else
            as[row_k][r] = widen(a[i]);
#endif
        }
#pragma unroll
        for (int i = 0; i < B_LOADS; i++) {
            u32 k = column_k + i * (THREADS / BN);
#if V_MMA
            bs[k * B_LINE + column_at] = b[i].bits;
#else
            bs[k][column_at] = widen(b[i]);
#endif
        }
    };
#if V_MMA
    // Warps have 32 by 32 sums each, of few rows 16 by 32.
    constexpr int MT = BM >= 32 ? 2 : 1, DOWN = BM / (16 * MT), NT = BN / (8 / DOWN) / 8;
    static_assert(NT == 4, "");
    u32 warp = thread / 32, lane = thread % 32, warp_m = warp % DOWN * 32, warp_n = warp / DOWN * (8 * NT);
    float sum[MT][NT][4] = {};
#else
    // Threads have 4 rows each, and fours of columns.
    constexpr int ACROSS = THREADS / (BM / 4), COLUMNS = BN / ACROSS;
    u32 ty = thread / ACROSS, tx = thread % ACROSS;
    SUM sum[4][COLUMNS] = {};
#endif
    u32 now = 0;
    if (thread < BK) entries[0][thread] = entry(p, group, begin + thread, end);
    __syncthreads();
    if (begin < end) load(entries[0]);
    for (u64 k0 = begin; k0 < end; k0 += BK) {
        now ^= 1;
        // The places of the next step, while this one's elements are put where all see them.
        if (thread < BK) entries[now][thread] = entry(p, group, k0 + BK + thread, end);
        keep();
        __syncthreads();
        if (k0 + BK < end) load(entries[now]);
#if V_MMA
#pragma unroll
        for (int s = 0; s < BK / 16; s++) {
            u32 fa[MT][4], fb[NT / 2][4];
#pragma unroll
            for (int i = 0; i < MT; i++)
                ldmatrix(fa[i], shared_address(as + (warp_m + i * 16 + lane % 16) * A_LINE + s * 16 + lane / 16 * 8));
#pragma unroll
            for (int j = 0; j < NT / 2; j++)
                ldmatrix_transposed(fb[j], shared_address(bs + (s * 16 + lane % 16) * B_LINE + warp_n + j * 16 + lane / 16 * 8));
#pragma unroll
            for (int i = 0; i < MT; i++)
#pragma unroll
                for (int j = 0; j < NT; j++) mma(sum[i][j], fa[i], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1], T());
        }
#else
#pragma unroll
        for (int k = 0; k < BK; k++) {
            SUM fa[4], fb[COLUMNS];
#pragma unroll
            for (int i = 0; i < 4; i++) fa[i] = as[k][ty * 4 + i];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) fb[j] = bs[k][j / 4 * (ACROSS * 4) + tx * 4 + j % 4];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) sum[i][j] += fa[i] * fb[j];
        }
#endif
        __syncthreads();
    }
#if V_MMA
#pragma unroll
    for (int i = 0; i < MT; i++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                u32 row = tile_m * BM + warp_m + i * 16 + lane / 4 + e / 2 * 8;
                u32 n = tile_n * BN + warp_n + j * 8 + lane % 4 * 2 + e % 2;
                store(p, group, split, row, n, sum[i][j][e]);
            }
#else
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            u32 n = tile_n * BN + j / 4 * (ACROSS * 4) + tx * 4 + j % 4;
            store(p, group, split, tile_m * BM + ty * 4 + i, n, sum[i][j]);
        }
#endif
}
