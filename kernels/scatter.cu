// Sums by index, the adjoint of a gather: zeros, with x[.., j, ..] added at index[.., j, ..] in the order of j.
//
// Each element of the result has one thread, which adds what belongs to it in order: no atomics, the same bits every time.
// Where the axis is short (or rows are long) every target looks through all indices that may name it; otherwise positions are sorted by
// target first, stably (by sort.cu). Of short rows those of a target are linked instead where few meet, in whatever order atomics do that,
// and who adds them puts them in order: the launches that sort are there in any case, and do nothing where no target has more
// than can be linked. Where it is known that no target has more than one position, threads have positions, and write. What many positions meet at is a block's, whose threads have many of them on the way while one adds. Sums of integers
// are the same in any order: atomics add those of 32 and 64 bits.
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

// ROW, STRIP: elements of a row that a warp has, where it looks through all indices and where these are sorted. SUMS: sums that a
// block has of its own. TIMES, EACH: elements that a thread and its block have at a time. FEW: positions of a target that are linked. HEAVY, PILE: positions from
// which on a target's long row, or each element of its short one, is a block's.
enum : u32 { THREADS = 256, WARPS = THREADS / 32, ROW = 32, STRIP = 128, SUMS = 2048, TIMES = 4, EACH = THREADS * TIMES, FEW = 16 };
enum : u32 { HEAVY = 64, PILE = 1024 };
// What a warp follows of links to a target's long row, and keys of none behind positions that are looked for: as many as who adds them reads at once.
enum : u32 { CHAIN = 32, NONE = 128 };

struct Scatter {
    void* out;
    const void* x;
    const i64* index;
    Fault* fault;
    const u32* keys;       // sorted targets, and the positions they come from
    const u32* positions;
    const u32* heads;      // of each row of the result one more than a position, or 0, and of each position the next one
    const u32* next;
    u32* crowded;          // whether a target has more positions than are linked
    u32* heavy;            // how many targets are for blocks, and behind it these, and where each one's positions begin
    u64 count;             // elements of the result
    u64 sorted;            // how many keys
    i64 limit;             // size of the result's axis
    i64 x_stride, index_stride;  // along the axis
    i64 x_column;          // from one element of a row of x to the next
    u32 length;            // of x along the axis
    u32 wide;
    Divisor row;           // elements that share an index, side by side in the result
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

// Leaves a target to a block. In whatever order: each of them is added up by itself.
__device__ __forceinline__ void leave(u32* heavy, u32 key, u32 first) {
    u32 at = atomicAdd(heavy, 1u);
    heavy[1 + 2 * at] = key;
    heavy[2 + 2 * at] = first;
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
    const T* x = (const T*)p.x + at[1] + (i64)column * p.x_column;
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
    const T* x = (const T*)p.x + at[1] + (i64)column * p.x_column;
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

#if V_PAIRS || V_PAIRED || V_OWNED
// A position that is linked, with its value: who follows the links meets both at once.
struct Pair {
    u32 next;
    SUM value;
};
#endif

#if V_LISTS || V_PAIRED || V_OWNED
// Puts the positions that are linked from `link` on in order. False where there are more than these.
template <u32 N, typename Next>
__device__ __forceinline__ bool in_few(u32 (&order)[N], u32 link, Next next) {
#pragma unroll
    for (u32 i = 0; i < N; i++) order[i] = ~0u;
#pragma unroll 1
    while (link) {
        u32 more = link - 1;
        link = next(more);
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            u32 least = min(order[i], more);
            more = max(order[i], more);
            order[i] = least;
        }
        if (more != ~0u) return false;
    }
    return true;
}

// What is linked from `link` on, added in the order of positions. False where that is more than FEW.
template <typename Next, typename Value>
__device__ __forceinline__ bool add_linked(SUM& sum, u32 link, Next next, Value value) {
    // Most have few: these are asked for before the first is added.
    constexpr u32 MOST = 4;
    u32 some[MOST];
    if (in_few(some, link, next)) {
        SUM values[MOST];
#pragma unroll
        for (u32 i = 0; i < MOST; i++) values[i] = some[i] != ~0u ? value(some[i]) : SUM(0);
#pragma unroll
        for (u32 i = 0; i < MOST; i++)
            if (some[i] != ~0u) sum = add(sum, values[i]);
        return true;
    }
    u32 order[FEW];
    if (!in_few(order, link, next)) return false;
#pragma unroll
    for (u32 i = 0; i < FEW; i++) {
        if (order[i] == ~0u) break;
        sum = add(sum, value(order[i]));
    }
    return true;
}
#endif

#if V_PAIRED || V_OWNED
// What is linked from each of some links on, added in the order of positions. Who follows links waits for each of them: so several are followed
// side by side, as far as most go. Answers which of them are more than FEW.
template <u32 N>
__device__ __forceinline__ u32 add_pairs(SUM (&sum)[N], const u32 (&from)[N], const Pair* pairs) {
    constexpr u32 MOST = 5;
    u32 link[N], order[N][MOST], crowded = 0;
    SUM value[N][MOST];
#pragma unroll
    for (u32 i = 0; i < N; i++) {
        link[i] = from[i];
#pragma unroll
        for (u32 k = 0; k < MOST; k++) {
            order[i][k] = ~0u;
            value[i][k] = SUM(0);
        }
    }
#pragma unroll
    for (u32 step = 0; step < MOST; step++) {
        Pair pair[N];
#pragma unroll
        for (u32 i = 0; i < N; i++)
            if (link[i]) pair[i] = pairs[link[i] - 1];
#pragma unroll
        for (u32 i = 0; i < N; i++) {
            if (!link[i]) continue;
            u32 more = link[i] - 1;
            SUM its = pair[i].value;
            link[i] = pair[i].next;
#pragma unroll
            for (u32 k = 0; k <= step; k++) {
                u32 other = order[i][k];
                SUM its_own = value[i][k];
                bool before = more < other;
                order[i][k] = before ? more : other;
                value[i][k] = before ? its : its_own;
                more = before ? other : more;
                its = before ? its_own : its;
            }
        }
    }
#pragma unroll
    for (u32 i = 0; i < N; i++) {
        sum[i] = SUM(0);
        if (!link[i]) {
#pragma unroll
            for (u32 k = 0; k < MOST; k++)
                if (order[i][k] != ~0u) sum[i] = add(sum[i], value[i][k]);
        } else if (!add_linked(sum[i], from[i], [&](u32 at) { return pairs[at].next; }, [&](u32 at) { return pairs[at].value; })) {
            crowded |= 1u << i;
        }
    }
    return crowded;
}
#endif

#ifdef V_PAIRED
// A thread some elements of the result, with rows of one.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u64 first = (u64)blockIdx.x * EACH + threadIdx.x;
    u32 link[TIMES];
    SUM sum[TIMES];
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) link[i] = first + i * THREADS < p.count ? p.heads[first + i * THREADS] : 0;
    u32 crowded = add_pairs(sum, link, (const Pair*)p.next);
    if (crowded) *p.crowded = 1;
#pragma unroll
    for (u32 i = 0; i < TIMES; i++)
        if (first + i * THREADS < p.count) narrow(sum[i], ((T*)p.out)[first + i * THREADS]);
}
#endif

#ifdef V_LISTS
// A thread an element of the result: it puts the positions that are linked to its target in order, and adds.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u64 element = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (element >= p.count) return;
    u64 row = p.wide ? element / p.row.size : (u64)p.row.divide((u32)element);
    const T* x = (const T*)p.x + (i64)(element - row * p.row.size) * p.x_column;
    auto value = [&](u32 position) {
        i64 at[2] = {};
        p.places.near(position, at);
        return widen(x[at[1]]);
    };
    SUM sum = SUM(0);
    if (u32 link = p.heads[row]) {
        if (!p.next[link - 1]) {
            sum = add(sum, value(link - 1));
        } else if (!add_linked(sum, link, [&](u32 at) { return p.next[at]; }, value)) {
            *p.crowded = 1;
            return;
        }
    }
    narrow(sum, ((T*)p.out)[element]);
}
#endif

#ifdef V_SEGMENTS
// The positions of a target stand side by side among the sorted ones: who has the first of them adds all. Targets that have none are
// zero already. From LONG positions on a warp reads them together, and adds them one after the other all the same; from PILE on they
// are left to blocks.
constexpr u32 LONG = 16;

// Adds what the threads of a warp find: each a column of a target whose positions begin at the thread's.
__device__ __forceinline__ void add_segments(const Scatter& p, u64 unit) {
    u32 lane = threadIdx.x % 32, first = 0, column = 0, key = ~0u;
    bool begins = false, is_long = false;
    if (unit < p.sorted * p.row.size) {
        first = (u32)(p.wide ? unit / p.row.size : (u64)p.row.divide((u32)unit));
        column = (u32)(unit - (u64)first * p.row.size);
        key = p.keys[first];
        begins = key != ~0u && (first == 0 || p.keys[first - 1] != key);
        is_long = begins && first + LONG < p.sorted && p.keys[first + LONG] == key;
        if (is_long && first + PILE <= p.sorted && p.keys[first + PILE - 1] == key) {
            if (column == 0) leave(p.heavy, key, first);
            begins = is_long = false;
        }
    }
    const T* x = (const T*)p.x;
    T* out = (T*)p.out;
    if (begins && !is_long) {
        SUM sum = SUM(0);
#pragma unroll 1
        for (u32 j = first; j < p.sorted && p.keys[j] == key; j++) {
            i64 at[2];
            p.places.offsets(p.positions[j], at);
            sum = add(sum, widen(x[at[1] + (i64)column * p.x_column]));
        }
        narrow(sum, out[(u64)key * p.row.size + column]);
    }
    for (u32 left = __ballot_sync(~0u, is_long); left; left &= left - 1) {
        u32 who = __ffs(left) - 1;
        u32 from = __shfl_sync(~0u, first, who), own = __shfl_sync(~0u, key, who), c = __shfl_sync(~0u, column, who);
        SUM sum = SUM(0);
        u32 n = 32;
#pragma unroll 1
        for (u32 j = from + lane; n == 32; j += 32) {
            bool mine = j < p.sorted && p.keys[j] == own;
            SUM value = SUM(0);
            if (mine) {
                i64 at[2];
                p.places.offsets(p.positions[j], at);
                value = widen(x[at[1] + (i64)c * p.x_column]);
            }
            n = __popc(__ballot_sync(~0u, mine));
#pragma unroll 4
            for (u32 i = 0; i < n; i++) sum = add(sum, __shfl_sync(~0u, value, i));
        }
        if (lane == who) narrow(sum, out[(u64)own * p.row.size + c]);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    if (p.crowded && !*p.crowded) return;
    u64 all = p.sorted * p.row.size;
    for (u64 start = (u64)blockIdx.x * THREADS; start < all; start += (u64)gridDim.x * THREADS) add_segments(p, start + threadIdx.x);
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
    if (low + HEAVY <= p.sorted && p.keys[low + HEAVY - 1] == (u32)row) {
        if (column == 0) leave(p.heavy, (u32)row, low);
        return;
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
            const T* from = x + __shfl_sync(~0u, offset[1], i) + (i64)column * p.x_column;
#pragma unroll
            for (u32 c = 0; c < 4; c++)
                if (column + c * 32 < p.row.size) sum[c] = add(sum[c], widen(from[(i64)(c * 32) * p.x_column]));
        }
    }
    for (u32 c = 0; c < 4; c++)
        if (column + c * 32 < p.row.size) narrow(sum[c], ((T*)p.out)[row * p.row.size + column + c * 32]);
}
#endif

#if V_HEAVY || V_PILES
// Adds `n` numbers of shared memory one after the other. Those that come next are read while some are added.
__device__ __forceinline__ SUM in_order(SUM sum, const SUM* from, u32 step, u32 n) {
    constexpr u32 AHEAD = 16;
    u32 i = 0;
    if (n >= AHEAD) {
        SUM now[AHEAD];
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) now[k] = from[k * step];
#pragma unroll 1
        for (i = AHEAD; i + AHEAD <= n; i += AHEAD) {
            SUM next[AHEAD];
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++) next[k] = from[(i + k) * step];
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++) sum = add(sum, now[k]);
#pragma unroll
            for (u32 k = 0; k < AHEAD; k++) now[k] = next[k];
        }
#pragma unroll
        for (u32 k = 0; k < AHEAD; k++) sum = add(sum, now[k]);
    }
#pragma unroll 1
    for (; i < n; i++) sum = add(sum, from[i * step]);
    return sum;
}
#endif

#ifdef V_CHAINS
// A warp up to 128 neighbouring elements of a long row: it follows the links to its target, puts them in order, a lane each, and adds. Targets that
// have more than CHAIN are left to others.
__device__ __forceinline__ bool add_chain(const Scatter& p, u64 row, u32 column) {
    u32 lane = threadIdx.x % 32, n = 0, own = ~0u;
    u32 link = p.heads[row];
    for (; link && n < CHAIN; n++) {
        if (lane == n) own = link - 1;
        link = p.next[link - 1];
    }
    if (link) return false;
    i64 at[2] = {};
    if (own != ~0u) p.places.near(own, at);
    u32 before = 0;
    for (u32 i = 0; i < n; i++) before += __shfl_sync(~0u, own, i) < own;
    const T* x = (const T*)p.x + (i64)column * p.x_column;
    SUM sum[4] = {};
#pragma unroll 2
    for (u32 i = 0; i < n; i++) {
        u32 who = __ffs(__ballot_sync(~0u, lane < n && before == i)) - 1;
        const T* from = x + __shfl_sync(~0u, at[1], who);
#pragma unroll
        for (u32 c = 0; c < 4; c++)
            if (column + c * 32 < p.row.size) sum[c] = add(sum[c], widen(from[(i64)(c * 32) * p.x_column]));
    }
#pragma unroll
    for (u32 c = 0; c < 4; c++)
        if (column + c * 32 < p.row.size) narrow(sum[c], ((T*)p.out)[row * p.row.size + column + c * 32]);
    return true;
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    u32 strips = (p.row.size + STRIP - 1) / STRIP;
    u64 item = ((u64)blockIdx.x * THREADS + threadIdx.x) / 32, row = item / strips;
    if (row * p.row.size >= p.count) return;
    u32 strip = (u32)(item - row * strips), lane = threadIdx.x % 32;
    bool added = add_chain(p, row, strip * STRIP + lane);
    if (!added && strip == 0 && lane == 0) leave(p.heavy, (u32)row, 0);
}
#endif

#ifdef V_LOOK
// A block a target that has more positions than were followed: it looks for them among all indices that may name the target, and writes them where
// sorted ones would stand, in order, and behind them keys of none.
constexpr u32 LOOKS = 8;

__device__ __forceinline__ void look(const Scatter& p, u32 which, u32 (&found)[LOOKS * WARPS]) {
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = p.heavy[1 + 2 * which];
    i64 at[2];
    p.targets.offsets(row, at);
    i64 mine = along(p, row);
    const i64* index = p.index + at[0];
    u32 inner = 1, own = 0;
    for (u32 axis = p.targets.rank - 1; axis > p.axis; axis--) inner *= p.targets.size[axis].size;
    u64 outer = row / (inner * (u64)p.targets.size[p.axis].size);
    for (u32 j = threadIdx.x; j < p.length; j += THREADS) own += index[(i64)j * p.index_stride] == mine;
    __shared__ u32 all, begin;
    if (threadIdx.x == 0) all = 0;
    __syncthreads();
    if (own) atomicAdd(&all, own);
    __syncthreads();
    if (threadIdx.x == 0) {
        begin = atomicAdd(p.crowded, all + NONE);
        p.heavy[2 + 2 * which] = begin;
    }
    __syncthreads();
    static_assert(NONE <= THREADS, "a thread writes one");
    if (threadIdx.x < NONE) ((u32*)p.keys)[begin + all + threadIdx.x] = ~0u;
    u32 to = begin;
    for (u32 j0 = 0; j0 < p.length; j0 += LOOKS * THREADS) {
        u32 names[LOOKS];
#pragma unroll
        for (u32 k = 0; k < LOOKS; k++) {
            u32 j = j0 + k * THREADS + threadIdx.x;
            i64 named = j < p.length ? index[(i64)j * p.index_stride] : -1;
            names[k] = __ballot_sync(~0u, named == mine);
            if (lane == 0) found[k * WARPS + warp] = __popc(names[k]);
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < LOOKS; k++) {
            u32 place = to + __popc(names[k] & ((1u << lane) - 1));
            for (u32 w = 0; w < WARPS; w++) {
                if (w < warp) place += found[k * WARPS + w];
                to += found[k * WARPS + w];
            }
            if (!(names[k] >> lane & 1)) continue;
            ((u32*)p.keys)[place] = row;
            ((u32*)p.positions)[place] = (u32)((outer * p.length + j0 + k * THREADS + threadIdx.x) * inner + row % inner);
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    __shared__ u32 found[LOOKS * WARPS];
    for (u32 which = blockIdx.x; which < *p.heavy; which += gridDim.x) look(p, which, found);
}
#endif

#ifdef V_HEAVY
// A block 32 neighbouring elements of a row that many positions go to. Its warps bring what they read to shared memory; one adds it there, in
// order, while the others read on.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    // Rows that a warp reads at a time, and the block.
    constexpr u32 OWN = sizeof(SUM) == 8 ? 8 : 16, AHEAD = OWN * WARPS;
    static_assert(AHEAD <= NONE, "what stands behind a target's keys is none of them");
    __shared__ SUM read[2][AHEAD][32];
    u32 strips = (p.row.size + 31) / 32, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    u64 items = (u64)*p.heavy * strips;
    for (u64 item = blockIdx.x; item < items; item += gridDim.x) {
        u32 which = (u32)(item / strips);
        u32 row = p.heavy[1 + 2 * which], low = p.heavy[2 + 2 * which];
        u32 column = (u32)(item - (u64)which * strips) * 32 + lane;
        bool inside = column < p.row.size;
        const T* x = (const T*)p.x + (i64)column * p.x_column;
        SUM sum = SUM(0), value[OWN];
        // The positions that a warp reads next: a lane each, and how many of them there are.
        u32 n = 0;
        i64 offset = 0;
        auto positions = [&](u32 first) {
            u32 at = first + warp * OWN + lane;
            bool own = lane < OWN && at < p.sorted && p.keys[at] == row;
            n = __popc(__ballot_sync(~0u, own));
            i64 offsets[2] = {};
            if (own) p.places.near(p.positions[at], offsets);
            offset = offsets[1];
        };
        auto values = [&]() {
#pragma unroll
            for (u32 i = 0; i < OWN; i++) {
                i64 from = __shfl_sync(~0u, offset, i);
                value[i] = i < n && inside ? widen(x[from]) : SUM(0);
            }
        };
        positions(low);
        values();
        u32 own = n, turn = 0;
        positions(low += AHEAD);
        for (bool more = true; more; turn ^= 1) {
#pragma unroll
            for (u32 i = 0; i < OWN; i++) read[turn][warp * OWN + i][lane] = value[i];
            // All before the last are full.
            u32 there = __syncthreads_count(lane < own);
            more = there == AHEAD;
            if (more) {
                values();
                own = n;
            }
            if (warp == 0) sum = in_order(sum, &read[turn][0][lane], 32, there);
            if (more) positions(low += AHEAD);
        }
        if (warp == 0 && inside) narrow(sum, ((T*)p.out)[(u64)row * p.row.size + column]);
        // What was read last is added before it is written over.
        __syncthreads();
    }
}
#endif

#ifdef V_PILES
// A block an element of a short row that very many positions go to. All threads bring what they read to shared memory; one adds it there, in
// order, while the others read on.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scatter p) {
    if (p.crowded && !*p.crowded) return;
    constexpr u32 OWN = 8, AHEAD = OWN * THREADS;
    __shared__ SUM read[2][AHEAD];
    u64 items = (u64)*p.heavy * p.row.size;
    for (u64 item = blockIdx.x; item < items; item += gridDim.x) {
        u32 which = (u32)(item / p.row.size);
        u32 key = p.heavy[1 + 2 * which], low = p.heavy[2 + 2 * which], column = (u32)(item - (u64)which * p.row.size);
        const T* x = (const T*)p.x + (i64)column * p.x_column;
        // How many positions there are from `low` on: keys before `end` are not larger.
        u32 end = low, high = (u32)p.sorted;
        while (end < high) {
            u32 half = end + (high - end) / 2;
            if (p.keys[half] <= key) end = half + 1;
            else high = half;
        }
        SUM sum = SUM(0), value[OWN];
        auto values = [&](u32 first) {
#pragma unroll
            for (u32 k = 0; k < OWN; k++) {
                u32 at = first + k * THREADS + threadIdx.x;
                i64 offsets[2] = {};
                if (at < end) p.places.near(p.positions[at], offsets);
                value[k] = at < end ? widen(x[offsets[1]]) : SUM(0);
            }
        };
        values(low);
        for (u32 turn = 0; low < end; turn ^= 1) {
#pragma unroll
            for (u32 k = 0; k < OWN; k++) read[turn][k * THREADS + threadIdx.x] = value[k];
            __syncthreads();
            u32 there = min(AHEAD, end - low);
            low += there;
            if (low < end) values(low);
            if (threadIdx.x == 0) sum = in_order(sum, read[turn], 1, there);
        }
        if (threadIdx.x == 0) narrow(sum, ((T*)p.out)[(u64)key * p.row.size + column]);
        // What was read last is added before it is written over.
        __syncthreads();
    }
}
#endif

#ifdef V_KEYS
struct Keys {
    const i64* index;
    u32* keys;
    Fault* fault;
    u64 count;
    i64 limit;
    i64 stride;      // rows of the result from one place along the axis to the next
    const u32* crowded;  // where it is known whether keys are wanted
    u32* heavy;      // how many targets are left to blocks: none yet
    Axes<2> places;  // around the rows of x: of the index, and of the rows of the result, without the axis
};

// What is sorted: the row of the result that each position goes to. What is out of range goes behind all.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Keys p) {
    if (p.crowded && !*p.crowded) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) *p.heavy = 0;
    for (u64 position = (u64)blockIdx.x * THREADS + threadIdx.x; position < p.count; position += (u64)gridDim.x * THREADS) {
        i64 at[2];
        p.places.offsets(position, at);
        i64 index = p.index[at[0]];
        bool valid = index >= 0 && index < p.limit;
        if (!valid) report(p.fault, index);
        p.keys[position] = valid ? (u32)(at[1] + index * p.stride) : ~0u;
    }
}
#endif

#ifdef V_LINKS
struct Links {
    const i64* index;
    u32* heads;
    u32* next;
    Fault* fault;
    u64 count;
    i64 limit;
    i64 stride;      // as of keys
    Axes<2> places;
};

// Links each position to the row of the result that it goes to.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Links p) {
    u64 position = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (position >= p.count) return;
    i64 at[2];
    p.places.offsets(position, at);
    i64 index = p.index[at[0]];
    if (index < 0 || index >= p.limit) {
        report(p.fault, index);
        return;
    }
    u64 row = (u64)(at[1] + index * p.stride);
    p.next[position] = atomicExch(p.heads + row, (u32)position + 1);
}
#endif

#if V_PAIRS || V_OWNED
struct Pairs {
    const i64* index;
    const T* x;
    u32* heads;      // of each element of the result, as of links; where these are few, the result itself, which is zeros
    void* pairs;
    u32* crowded;
    Fault* fault;
    u64 count;
    i64 limit;
    i64 stride;      // as of keys
    Axes<3> places;  // as of keys, and of x
};
#endif

#ifdef V_PAIRS
// As links, with each position's value beside it.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Pairs p) {
    u64 position = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (position >= p.count) return;
    i64 at[3];
    p.places.offsets(position, at);
    i64 index = p.index[at[0]];
    if (index < 0 || index >= p.limit) {
        report(p.fault, index);
        return;
    }
    SUM value = widen(p.x[at[2]]);
    u32 next = atomicExch(p.heads + (u64)(at[1] + index * p.stride), (u32)position + 1);
    ((Pair*)p.pairs)[position] = Pair{next, value};
}
#endif

#ifdef V_OWNED
// Where places are many and positions few, nobody looks at all places: heads are kept where the sums will be, and who was the first at a place
// (no other one knows it for that) adds all that are there.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Pairs p) {
    static_assert(sizeof(T) == sizeof(u32), "a head has a sum's place");
    const Pair* pairs = (const Pair*)p.pairs;
    u64 first = (u64)blockIdx.x * EACH + threadIdx.x;
    u32* place[TIMES];
    u32 link[TIMES];
    SUM sum[TIMES];
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) {
        u64 position = first + i * THREADS;
        place[i] = nullptr;
        if (position >= p.count) continue;
        i64 at[3];
        p.places.offsets(position, at);
        i64 index = p.index[at[0]];
        if (index >= 0 && index < p.limit && !pairs[position].next) place[i] = p.heads + (u64)(at[1] + index * p.stride);
    }
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) link[i] = place[i] ? *place[i] : 0;
    u32 crowded = add_pairs(sum, link, pairs);
    if (crowded) *p.crowded = 1;
#pragma unroll
    for (u32 i = 0; i < TIMES; i++)
        if (place[i]) narrow(sum[i], *(T*)place[i]);
}
#endif

#if V_ADD || V_FEW || V_ONCE
// Integers are added in any order, by atomics: sums wrap, and are the same.
struct Add {
    T* out;
    const T* x;
    const i64* index;
    Fault* fault;
    u64 count;       // elements of x
    i64 limit;
    i64 stride;      // of the result along the axis
    u64 sums;        // elements of the result
    Axes<3> places;  // of the index, of x, and of the result without the axis
};

// Where an element goes, and what it is; or nowhere.
__device__ __forceinline__ bool goes(const Add& p, u64 element, i64& to, T& value) {
    i64 at[3];
    p.places.offsets(element, at);
    i64 index = p.index[at[0]];
    if (index < 0 || index >= p.limit) {
        report(p.fault, index);
        return false;
    }
    to = at[2] + index * p.stride;
    value = p.x[at[1]];
    return true;
}
#endif

#ifdef V_ADD
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Add p) {
    u64 element = (u64)blockIdx.x * THREADS + threadIdx.x;
    i64 to;
    T value;
    if (element < p.count && goes(p, element, to, value)) atomicAdd((SUM*)p.out + to, (SUM)value);
}
#endif

#ifdef V_FEW
// Few sums: each block has its own of all of them first. Those of 64 bits are two words, and a carry.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Add p) {
    constexpr bool WIDE = sizeof(T) == 8;
    __shared__ u32 low[SUMS], high[WIDE ? SUMS : 1];
    for (u32 i = threadIdx.x; i < p.sums; i += THREADS) {
        low[i] = 0;
        if (WIDE) high[i] = 0;
    }
    __syncthreads();
    for (u64 start = (u64)blockIdx.x * EACH; start < p.count; start += (u64)gridDim.x * EACH) {
        i64 to[TIMES];
        T value[TIMES];
#pragma unroll
        for (u32 i = 0; i < TIMES; i++) {
            u64 element = start + i * THREADS + threadIdx.x;
            to[i] = -1;
            if (element < p.count && !goes(p, element, to[i], value[i])) to[i] = -1;
        }
#pragma unroll
        for (u32 i = 0; i < TIMES; i++) {
            if (to[i] < 0) continue;
            u32 less = (u32)value[i], before = atomicAdd(low + to[i], less);
            if (!WIDE) continue;
            u32 more = (u32)((u64)(i64)value[i] >> 32) + (before + less < before);
            if (more) atomicAdd(high + to[i], more);
        }
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < p.sums; i += THREADS) {
        SUM sum = (SUM)low[i];
        if (WIDE) sum |= (SUM)((u64)high[i] << 32);
        if (sum) atomicAdd((SUM*)p.out + i, sum);
    }
}
#endif

#ifdef V_ONCE
// Of targets that have one position at most; a sum begins with 0 all the same, which -0 is not.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Add p) {
    u64 first = (u64)blockIdx.x * EACH + threadIdx.x;
    i64 to[TIMES];
    T value[TIMES];
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) {
        u64 element = first + i * THREADS;
        to[i] = -1;
        if (element < p.count && !goes(p, element, to[i], value[i])) to[i] = -1;
    }
#pragma unroll
    for (u32 i = 0; i < TIMES; i++)
        if (to[i] >= 0) narrow(add(SUM(0), widen(value[i])), p.out[to[i]]);
}
#endif
