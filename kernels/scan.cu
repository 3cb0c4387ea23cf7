// Running sums, products, extremes and linear recurrences along an axis of a dense operand [outer, length, inner].
//
// Three passes where one block does not have a whole line: what each chunk comes to, what stands before each chunk, and the
// chunks themselves ("reduce, then scan": Blelloch, "Prefix sums and their applications", 1990). The order of additions is
// fixed by the sizes, so that the same operands give the same bits.
#include "common.cuh"

template <typename T>
struct Wide;
template <>
#if V_LOGSUM
struct Wide<float> { using type = float; };
#else
struct Wide<float> { using type = double; };
#endif
template <>
struct Wide<double> { using type = double; };
template <>
struct Wide<f16> { using type = float; };
template <>
struct Wide<bf16> { using type = float; };
template <>
#if V_EXTREME
struct Wide<i64> { using type = i64; };
#else
struct Wide<i64> { using type = u64; };  // wraps
#endif
template <>
struct Wide<i32> { using type = i64; };
template <>
struct Wide<u8> { using type = i64; };

__device__ __forceinline__ Wide<float>::type widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(f16 x) { return to_f32(x); }
__device__ __forceinline__ float widen(bf16 x) { return to_f32(x); }
__device__ __forceinline__ Wide<i64>::type widen(i64 x) { return (Wide<i64>::type)x; }
__device__ __forceinline__ i64 widen(i32 x) { return x; }
__device__ __forceinline__ i64 widen(u8 x) { return x; }

template <typename T, typename W>
__device__ __forceinline__ T narrow(W x) { return (T)x; }
template <>
__device__ __forceinline__ f16 narrow<f16, float>(float x) { return to_f16(x); }
template <>
__device__ __forceinline__ bf16 narrow<bf16, float>(float x) { return to_bf16(x); }

using T = V_T;
using W = Wide<T>::type;

// What is carried from element to element. `then` joins what is before with what comes after.
#if V_SUM
using Out = T;
struct State {
    W v;
    __device__ static State none() { return {(W)0}; }
    __device__ static State of(T x, T, i64) { return {widen(x)}; }
    __device__ State then(State after, u32) const { return {v + after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_PROD
using Out = T;
struct State {
    W v;
    __device__ static State none() { return {(W)1}; }
    __device__ static State of(T x, T, i64) { return {widen(x)}; }
    __device__ State then(State after, u32) const { return {v * after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_LINEAR
// y = x + a * (y before): a map of y, which is joined with the next one.
using Out = T;
struct State {
    W a, v;
    __device__ static State none() { return {(W)1, (W)0}; }
    __device__ static State of(T x, T a, i64) { return {widen(a), widen(x)}; }
    __device__ State then(State after, u32) const { return {a * after.a, after.a * v + after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_LOGSUM
using Out = T;
struct State {
    W m, s;  // m + log(s)
    __device__ static State none() { return {-(W)__int_as_float(0x7f800000), (W)0}; }
    __device__ static State of(T x, T, i64) { return {widen(x), (W)1}; }
    __device__ State then(State after, u32) const {
        W top = m > after.m || m != m ? m : after.m;
        W here = m == top ? s : s * exp(m - top);
        W there = after.m == top ? after.s : after.s * exp(after.m - top);
        return {top, here + there};
    }
    __device__ Out out() const { return narrow<T>(m + log(s)); }
};
#elif V_EXTREME
// The index of the largest (or smallest) element so far: of equal ones the last; NaN is beyond all.
using Out = i64;
struct State {
    W v;
    i64 at;
    __device__ static State none() { return {(W)0, -1}; }
    __device__ static State of(T x, T, i64 at) { return {widen(x), at}; }
    __device__ State then(State after, u32 smallest) const {
        if (after.at < 0) return *this;
        if (at < 0) return after;
        bool beyond = smallest ? after.v <= v : after.v >= v;
        return after.v != after.v || (beyond && v == v) ? after : *this;
    }
    __device__ Out out() const { return at; }
};
#endif

enum : u32 { THREADS = 256, WARPS = THREADS / 32 };

struct Scan {
    Out* out;
    const T* x;
    const T* a;             // the factors of a recurrence
    State* totals;          // of chunks; where they are there and `starts` is not, they are what is written
    const State* starts;    // what stands before each chunk
    u64 outer, length, inner;
    u64 chunk;              // elements along the axis that one warp, block or thread has
    u64 chunks;             // in a line
    u32 reverse;
    u32 smallest;
    u32 together;           // the warps of a block share a chunk
    u32 vector;             // elements side by side are read and written together
    u32 lanes;              // of a warp, that share a line: 32, or fewer where lines are short
    u32 unused;
};

__device__ __forceinline__ State up(State s, u32 by) {
    constexpr int N = sizeof(State) / 4;
    union {
        State state;
        u32 word[N];
    } from, to;
    from.state = s;
#pragma unroll
    for (int i = 0; i < N; i++) to.word[i] = __shfl_up_sync(0xffffffffu, from.word[i], by);
    return to.state;
}
__device__ __forceinline__ State from_lane(State s, u32 lane) {
    constexpr int N = sizeof(State) / 4;
    union {
        State state;
        u32 word[N];
    } from, to;
    from.state = s;
#pragma unroll
    for (int i = 0; i < N; i++) to.word[i] = __shfl_sync(0xffffffffu, from.word[i], lane);
    return to.state;
}

// The states of all lanes up to this one, among `lanes` that belong together, joined.
__device__ __forceinline__ State across(State s, u32 smallest, u32 lanes = 32) {
    u32 lane = threadIdx.x & (lanes - 1);
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        if (by >= lanes) break;
        State before = up(s, by);
        if (lane >= by) s = before.then(s, smallest);
    }
    return s;
}

#if V_ROWS
// Lines whose elements lie side by side: inner is 1.
constexpr int EACH = 8;
constexpr int TIMES = 4;
constexpr int WARP = 32 * EACH * TIMES;

template <typename N>
struct alignas(EACH * sizeof(N) < 16 ? EACH * sizeof(N) : 16) Pack {
    N v[EACH];
};

// Where a group's elements begin, in the order of memory.
__device__ __forceinline__ u64 place(const Scan& p, u64 at) { return p.reverse ? p.length - EACH - at : at; }

// A lane's elements of a line, in the order in which they are joined; `whole` says that all are there, side by side and aligned.
__device__ __forceinline__ void load(const Scan& p, const T* line, u64 at, bool whole, T (&v)[EACH]) {
    if (whole) {
        Pack<T> pack = *(const Pack<T>*)(line + place(p, at));
#pragma unroll
        for (int e = 0; e < EACH; e++) v[e] = p.reverse ? pack.v[EACH - 1 - e] : pack.v[e];
        return;
    }
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        u64 j = at + e;
        v[e] = j < p.length ? line[p.reverse ? p.length - 1 - j : j] : T();
    }
}

// Chunks' starts from their totals, in place: a block for each line.
__device__ void combine(const Scan& p) {
    __shared__ State sums[WARPS];
    State* line = p.totals + (u64)blockIdx.x * p.chunks;
    u64 each = (p.chunks + THREADS - 1) / THREADS;
    u64 from = threadIdx.x * each, to = min(from + each, p.chunks);
    State mine = State::none();
    for (u64 i = from; i < to; i++) mine = mine.then(line[i], p.smallest);
    State all = across(mine, p.smallest);
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    if (lane == 31) sums[warp] = all;
    __syncthreads();
    State before = State::none();
    for (u32 w = 0; w < warp; w++) before = before.then(sums[w], p.smallest);
    State below = up(all, 1);
    if (lane > 0) before = before.then(below, p.smallest);
    for (u64 i = from; i < to; i++) {
        State total = line[i];
        line[i] = before;
        before = before.then(total, p.smallest);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scan p) {
    if (!p.x) return combine(p);
    __shared__ State sums[WARPS];
    u32 lanes = p.lanes, lane = threadIdx.x & (lanes - 1), warp = threadIdx.x >> 5;
    u64 number = p.together ? blockIdx.x : ((u64)blockIdx.x * THREADS + threadIdx.x) / lanes;
    u64 row = number / p.chunks, chunk = number - row * p.chunks;
    // A line that is not there is one without elements: all lanes of a warp go the same way.
    bool idle = row >= p.outer;
    const T* line = p.x + row * p.length;
    u64 first = chunk * p.chunk + (p.together ? (u64)warp * WARP : 0);
    T v[TIMES][EACH] = {};
#if V_LINEAR
    const T* factors = p.a + row * p.length;
    T a[TIMES][EACH] = {};
#endif
    // Groups of elements that this warp has: the same number for all of its lanes.
    u64 left = p.length > first ? p.length - first : 0;
    int times = (int)min((u64)TIMES, (left + 32 * EACH - 1) / (32 * EACH));
    if (idle) first = p.length;
    u64 mine_at = first + lane * EACH;
    auto whole = [&](int t) { return p.vector && mine_at + (u64)(t * 32 * EACH) + EACH <= p.length; };
    auto element = [&](int t, int e) {
        u64 at = mine_at + (u64)(t * 32 * EACH) + e;
        i64 j = (i64)(p.reverse ? p.length - 1 - at : at);
#if V_LINEAR
        return State::of(v[t][e], a[t][e], j);
#else
        return State::of(v[t][e], v[t][e], j);
#endif
    };
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
        if (t >= times) break;
        load(p, line, mine_at + t * 32 * EACH, whole(t), v[t]);
#if V_LINEAR
        load(p, factors, mine_at + t * 32 * EACH, whole(t), a[t]);
#endif
    }
#if V_SUM || V_PROD
    // What a chunk comes to, in any order that is always the same.
    if (p.totals && !p.starts) {
        State mine = State::none();
#pragma unroll
        for (int t = 0; t < TIMES; t++) {
            if (t >= times) break;
            bool all_there = whole(t);
#pragma unroll
            for (int e = 0; e < EACH; e++)
                if (all_there || mine_at + (u64)(t * 32 * EACH) + e < p.length) mine = mine.then(element(t, e), p.smallest);
        }
        State all = across(mine, p.smallest);
        if (lane == 31) sums[warp] = all;
        __syncthreads();
        if (threadIdx.x == 0) {
            State total = State::none();
            for (u32 w = 0; w < WARPS; w++) total = total.then(sums[w], p.smallest);
            p.totals[number] = total;
        }
        return;
    }
#endif
    // Each lane's elements are joined, then the lanes, then the groups one after the other.
    State carry = State::none();
    State before[TIMES];
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
        if (t >= times) break;
        State mine = State::none();
        bool all_there = whole(t);
#pragma unroll
        for (int e = 0; e < EACH; e++)
            if (all_there || mine_at + (u64)(t * 32 * EACH) + e < p.length) mine = mine.then(element(t, e), p.smallest);
        State all = across(mine, p.smallest, lanes);
        State below = up(all, 1);
        before[t] = lane > 0 ? carry.then(below, p.smallest) : carry;
        carry = carry.then(from_lane(all, 31), p.smallest);
    }
    State start = State::none();
    if (p.starts) start = p.starts[number];
    if (p.together) {
        if (lane == 31) sums[warp] = carry;
        __syncthreads();
        if (p.totals && !p.starts) {
            if (threadIdx.x == 0) {
                for (u32 w = 0; w < WARPS; w++) start = start.then(sums[w], p.smallest);
                p.totals[number] = start;
            }
            return;
        }
        for (u32 w = 0; w < warp; w++) start = start.then(sums[w], p.smallest);
    }
    Out* to = p.out + row * p.length;
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
        if (t >= times) break;
        State now = start.then(before[t], p.smallest);
        u64 at = mine_at + (u64)(t * 32 * EACH);
        if (whole(t)) {
            Pack<Out> pack;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                now = now.then(element(t, e), p.smallest);
                if (p.reverse) pack.v[EACH - 1 - e] = now.out();
                else pack.v[e] = now.out();
            }
            *(Pack<Out>*)(to + place(p, at)) = pack;
            continue;
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (at + e >= p.length) break;
            now = now.then(element(t, e), p.smallest);
            to[p.reverse ? p.length - 1 - at - e : at + e] = now.out();
        }
    }
}
#endif

#if V_COLUMNS
// Lines beside each other: neighbouring threads have neighbouring lines.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scan p) {
    u64 number = (u64)blockIdx.x * THREADS + threadIdx.x;
    u64 column = number % p.inner, rest = number / p.inner;
    // Starts lie as totals do: a line's chunks one after the other.
    u64 row = rest / p.chunks, chunk = rest - row * p.chunks;
    if (row >= p.outer) return;
    u64 place = (row * p.inner + column) * p.chunks + chunk;
    u64 from = chunk * p.chunk, to = min(from + p.chunk, p.length);
    State now = p.starts ? p.starts[place] : State::none();
    u64 base = row * p.length * p.inner + column;
    bool whole = p.starts || !p.totals;
#pragma unroll 8
    for (u64 i = from; i < to; i++) {
        u64 j = p.reverse ? p.length - 1 - i : i;
        T x = p.x[base + j * p.inner];
#if V_LINEAR
        now = now.then(State::of(x, p.a[base + j * p.inner], (i64)j), p.smallest);
#else
        now = now.then(State::of(x, x, (i64)j), p.smallest);
#endif
        if (whole) p.out[base + j * p.inner] = now.out();
    }
    if (!whole) p.totals[place] = now;
}
#endif
