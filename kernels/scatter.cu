// Sums by index, the adjoint of a gather: zeros, with x[.., j, ..] added at index[.., j, ..] in the order of j.
//
// Each element of the result has one thread, which adds what belongs to it in order: no atomics, the same bits every time.
// Where the axis is short (or rows are long) every target looks through all indices that may name it; otherwise positions
// are sorted by target first, stably, and each target finds its own by bisection.
#include "index.cuh"

#ifdef V_SUM
using T = V_T;
using SUM = V_SUM;
#if V_FLOAT
__device__ __forceinline__ SUM widen(T x) { return to_f32(x); }
__device__ __forceinline__ void narrow(SUM s, float& to) { to = s; }
__device__ __forceinline__ void narrow(SUM s, f16& to) { to = to_f16(s); }
__device__ __forceinline__ void narrow(SUM s, bf16& to) { to = to_bf16(s); }
__device__ __forceinline__ SUM add(SUM a, SUM b) { return __fadd_rn(a, b); }
#else
__device__ __forceinline__ SUM widen(T x) { return (SUM)x; }
__device__ __forceinline__ void narrow(SUM s, T& to) { to = (T)s; }
__device__ __forceinline__ SUM add(SUM a, SUM b) { return a + b; }
#endif
#endif

// ROW, STRIP: elements of a row that a warp has, where it looks through all indices and where these are sorted.
enum : u32 { THREADS = 256, WARPS = THREADS / 32, ROW = 32, STRIP = 128 };

struct Scatter {
    void* out;
    const void* x;
    const i64* index;
    Fault* fault;
    const u32* keys;       // sorted targets, and the positions they come from
    const u32* positions;
    u64 count;             // elements of the result
    u64 sorted;            // how many keys
    i64 limit;             // size of the result's axis
    i64 x_stride, index_stride;  // along the axis
    u32 length;            // of x along the axis
    u32 wide;
    Divisor row;           // elements that share an index and lie side by side
    u32 axis;              // where the axis is among `targets`
    u32 unused;
    Axes<2> targets;       // around the rows of the result: of the index and of x, the axis with stride 0
    Axes<2> places;        // around the rows of x: of the index and of x
};

// The place of a row of the result along the axis.
__device__ __forceinline__ i64 along(const Scatter& p, u64 row) {
#pragma unroll 1
    for (u32 axis = p.targets.rank - 1; axis > p.axis; axis--) row /= p.targets.size[axis].size;
    return (i64)(row % p.targets.size[p.axis].size);
}

#ifdef V_SCAN
// A thread an element; threads of a warp look at one index together.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u64 element = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (element >= p.count) return;
    u64 row = p.wide ? element / p.row.size : (u64)p.row.divide((u32)element);
    u64 column = element - row * p.row.size;
    i64 at[2];
    p.targets.offsets(row, at);
    i64 mine = along(p, row);
    const i64* index = p.index + at[0];
    const T* x = (const T*)p.x + at[1] + column;
    bool checks = mine == 0 && column == 0;
    SUM sum = SUM(0);
#pragma unroll 4
    for (u32 j = 0; j < p.length; j++) {
        i64 i = index[(i64)j * p.index_stride];
        if (i == mine) sum = add(sum, widen(x[(i64)j * p.x_stride]));
        if (checks && (i < 0 || i >= p.limit)) report(p.fault, i);
    }
    narrow(sum, ((T*)p.out)[element]);
}
#endif

#ifdef V_ROWS
// A warp 32 neighbouring elements of a row; it looks through 32 indices at a time.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u32 strips = (p.row.size + ROW - 1) / ROW;
    u64 warp = (u64)blockIdx.x * WARPS + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    u64 row = warp / strips;
    if (row * p.row.size >= p.count) return;
    u32 column = (u32)(warp - row * strips) * ROW + lane;
    i64 at[2];
    p.targets.offsets(row, at);
    i64 mine = along(p, row);
    const i64* index = p.index + at[0];
    const T* x = (const T*)p.x + at[1] + column;
    bool inside = column < p.row.size;
    bool checks = mine == 0 && column < 32;
    SUM sum = SUM(0);
    for (u32 j0 = 0; j0 < p.length; j0 += 32) {
        i64 i = -1;
        if (j0 + lane < p.length) {
            i = index[(i64)(j0 + lane) * p.index_stride];
            if (checks && (i < 0 || i >= p.limit)) report(p.fault, i);
        }
        u32 found = __ballot_sync(~0u, i == mine);
        while (found) {
            u32 j = j0 + __ffs(found) - 1;
            found &= found - 1;
            if (inside) sum = add(sum, widen(x[(i64)j * p.x_stride]));
        }
    }
    if (inside) narrow(sum, ((T*)p.out)[row * p.row.size + column]);
}
#endif

#ifdef V_SEGMENTS
// A thread an element; the positions of its target stand side by side among the sorted ones.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u64 element = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (element >= p.count) return;
    u64 row = p.wide ? element / p.row.size : (u64)p.row.divide((u32)element);
    u64 column = element - row * p.row.size;
    u64 low = 0, high = p.sorted;
    while (low < high) {
        u64 middle = (low + high) / 2;
        if (p.keys[middle] < (u32)row) low = middle + 1; else high = middle;
    }
    const T* x = (const T*)p.x + column;
    SUM sum = SUM(0);
#pragma unroll 1
    for (; low < p.sorted && p.keys[low] == (u32)row; low++) {
        i64 at[2];
        p.places.offsets(p.positions[low], at);
        sum = add(sum, widen(x[at[1]]));
    }
    narrow(sum, ((T*)p.out)[element]);
}
#endif

#ifdef V_STRIPS
// A warp up to 128 neighbouring elements of a long row. It looks for its target's positions 32 at a time.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u32 strips = (p.row.size + STRIP - 1) / STRIP;
    u64 warp = (u64)blockIdx.x * WARPS + threadIdx.x / 32;
    u32 lane = threadIdx.x % 32;
    u64 row = warp / strips;
    if (row * p.row.size >= p.count) return;
    u32 column = (u32)(warp - row * strips) * STRIP + lane;
    // Keys before `low` are smaller, those from `high` on are not.
    u32 low = 0, high = (u32)p.sorted;
    while (low < high) {
        u32 step = (high - low + 31) / 32, at = low + lane * step;
        u32 smaller = __ballot_sync(~0u, at < high && p.keys[at] < (u32)row);
        u32 n = __popc(smaller);
        if (n == 0) {
            high = low;
        } else {
            high = min(high, low + n * step);
            low = low + (n - 1) * step + 1;
        }
    }
    const T* x = (const T*)p.x;
    SUM sum[4] = {};
    bool more = true;
    for (u32 first = low; more; first += 32) {
        u32 at = first + lane;
        bool own = at < p.sorted && p.keys[at] == (u32)row;
        u32 n = __popc(__ballot_sync(~0u, own));
        i64 offset[2] = {};
        if (own) p.places.offsets(p.positions[at], offset);
        more = n == 32;
#pragma unroll 2
        for (u32 i = 0; i < n; i++) {
            const T* from = x + __shfl_sync(~0u, offset[1], i) + column;
#pragma unroll
            for (u32 c = 0; c < 4; c++)
                if (column + c * 32 < p.row.size) sum[c] = add(sum[c], widen(from[c * 32]));
        }
    }
    for (u32 c = 0; c < 4; c++)
        if (column + c * 32 < p.row.size) narrow(sum[c], ((T*)p.out)[row * p.row.size + column + c * 32]);
}
#endif

// Sorting by target: least significant digit first, 8 bits a pass, each pass stable.
enum : u32 { ITEMS = 2048 };  // of a block

#ifdef V_KEYS
struct Keys {
    const i64* index;
    u32* keys;
    u32* positions;
    Fault* fault;
    u64 count;
    i64 limit;
    u32 axis, unused;
    Axes<1> places;                    // around the rows of x: of the index
};

// What is out of range goes behind every target.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Keys p) {
    u64 position = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (position >= p.count) return;
    i64 at[1];
    p.places.offsets(position, at);
    i64 index = p.index[at[0]];
    // The row of the result: the position with the index in place of its coordinate along the axis.
    u64 rest = position, key = 0, scale = 1;
#pragma unroll 1
    for (int axis = (int)p.places.rank - 1; axis >= 0; axis--) {
        u32 size = p.places.size[axis].size;
        u64 i = rest % size;
        rest /= size;
        bool indexed = axis == (int)p.axis;
        key += (indexed ? (u64)index : i) * scale;
        scale *= indexed ? (u64)p.limit : size;
    }
    bool valid = index >= 0 && index < p.limit;
    if (!valid) report(p.fault, index);
    p.keys[position] = valid ? (u32)key : ~0u;
    p.positions[position] = (u32)position;
}
#endif

struct Sort {
    const u32* keys;
    const u32* positions;
    u32* keys_out;
    u32* positions_out;
    u32* counts;  // [256][blocks]
    u64 count;
    u32 shift;
    u32 blocks;
};

#ifdef V_COUNT
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Sort p) {
    __shared__ u32 counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (u32 i = threadIdx.x; i < ITEMS; i += 256) {
        u64 at = (u64)blockIdx.x * ITEMS + i;
        if (at < p.count) atomicAdd(counts + (p.keys[at] >> p.shift & 255), 1u);
    }
    __syncthreads();
    p.counts[(u64)threadIdx.x * p.blocks + blockIdx.x] = counts[threadIdx.x];
}
#endif

#ifdef V_OFFSETS
// One block: each count becomes the sum of those before it.
extern "C" __global__ void __launch_bounds__(1024) V_NAME(const __grid_constant__ Sort p) {
    __shared__ u32 sums[32];
    u32 n = 256 * p.blocks, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 before = 0;
    for (u32 start = 0; start < n; start += 4096) {
        u32 own[4], total = 0;
        u32 at = start + threadIdx.x * 4;
        for (u32 i = 0; i < 4; i++) {
            own[i] = at + i < n ? p.counts[at + i] : 0;
            total += own[i];
        }
        u32 sum = total;
        for (u32 d = 1; d < 32; d *= 2) {
            u32 other = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += other;
        }
        __syncthreads();
        if (lane == 31) sums[warp] = sum;
        __syncthreads();
        u32 warps = before;
        u32 all = 0;
        for (u32 w = 0; w < 32; w++) {
            if (w < warp) warps += sums[w];
            all += sums[w];
        }
        u32 next = warps + sum - total;
        for (u32 i = 0; i < 4; i++) {
            if (at + i < n) p.counts[at + i] = next;
            next += own[i];
        }
        before += all;
    }
}
#endif

#ifdef V_MOVE
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Sort p) {
    __shared__ u32 base[256];
    __shared__ u32 counts[WARPS][256];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    base[threadIdx.x] = p.counts[(u64)threadIdx.x * p.blocks + blockIdx.x];
    for (u32 start = 0; start < ITEMS; start += 256) {
        for (u32 w = 0; w < WARPS; w++) counts[w][threadIdx.x] = 0;
        __syncthreads();
        u64 at = (u64)blockIdx.x * ITEMS + start + threadIdx.x;
        bool inside = at < p.count;
        u32 key = inside ? p.keys[at] : 0;
        u32 digit = key >> p.shift & 255;
        u32 same = __match_any_sync(~0u, inside ? digit : 256u);
        u32 rank = __popc(same & ((1u << lane) - 1));
        if (inside && rank == 0) counts[warp][digit] = __popc(same);
        __syncthreads();
        u32 sum = base[threadIdx.x];
        for (u32 w = 0; w < WARPS; w++) {
            u32 own = counts[w][threadIdx.x];
            counts[w][threadIdx.x] = sum;
            sum += own;
        }
        base[threadIdx.x] = sum;
        __syncthreads();
        if (inside) {
            u32 to = counts[warp][digit] + rank;
            p.keys_out[to] = key;
            p.positions_out[to] = p.positions[at];
        }
        __syncthreads();
    }
}
#endif
