// Running sums, products, extremes and linear recurrences along an axis of a dense operand [outer, length, inner].
//
// One pass, also where a block does not have a whole line. Each block holds a chunk in registers, tells others what it comes
// to, and looks back at what stands before it: at the chunks of its group, at the groups of its group of groups, and so on. A
// group's sum is told by the block that has its last chunk. So nobody waits for a neighbour's prefix ("decoupled look-back":
// Merrill and Garland, "Single-pass parallel prefix scan", 2016), only for sums of what lies before; and, other than there,
// what is joined with what follows from the sizes alone: the same operands give the same bits. As there, a block waits for
// blocks of smaller numbers, which a device begins earlier.
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
struct Wide<i32> { using type = i32; };
template <>
struct Wide<u8> { using type = i32; };

__device__ __forceinline__ Wide<float>::type widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(f16 x) { return to_f32(x); }
__device__ __forceinline__ float widen(bf16 x) { return to_f32(x); }
__device__ __forceinline__ Wide<i64>::type widen(i64 x) { return (Wide<i64>::type)x; }
__device__ __forceinline__ i32 widen(i32 x) { return x; }
__device__ __forceinline__ i32 widen(u8 x) { return x; }

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
    __device__ static State of(T x) { return {widen(x)}; }
    __device__ State then(State after, u32) const { return {v + after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_PROD
using Out = T;
struct State {
    W v;
    __device__ static State none() { return {(W)1}; }
    __device__ static State of(T x) { return {widen(x)}; }
    __device__ State then(State after, u32) const { return {v * after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_LINEAR
// y = x + a * (y before): a map of y, which is joined with the next one.
using Out = T;
struct State {
    W a, v;
    __device__ static State none() { return {(W)1, (W)0}; }
    __device__ static State of(T x, T a) { return {widen(a), widen(x)}; }
    __device__ State then(State after, u32) const { return {a * after.a, after.a * v + after.v}; }
    __device__ Out out() const { return narrow<T>(v); }
};
#elif V_LOGSUM
using Out = T;
struct State {
    W m, s;  // m + log(s)
    __device__ static State none() { return {-(W)__int_as_float(0x7f800000), (W)0}; }
    __device__ static State of(T x) { return {widen(x), (W)1}; }
    __device__ State then(State after, u32) const {
        W top = m > after.m || m != m ? m : after.m;
        W here = m == top ? s : s * exp(m - top);
        W there = after.m == top ? after.s : after.s * exp(after.m - top);
        return {top, here + there};
    }
    __device__ Out out() const { return narrow<T>(m + log(s)); }
};
#elif V_EXTREME
// The largest (or smallest) element so far, or its index: of equal ones the last; NaN is beyond all. Elements are compared by keys that rise with
// them (or fall) and are the same for equal ones; behind the key is one more than the step at which an element stands. So the larger of two states
// is what comes of both, and zero is none.
using Out = i64;
template <u32 BYTES>
struct Keyed {
    using Key = u32;
    u64 all;
    __device__ static Keyed of(Key key, u32 step) { return {(u64)key << 32 | (step + 1)}; }
    __device__ bool below(Keyed o) const { return all < o.all; }
    __device__ u32 step() const { return (u32)all - 1; }
};
template <>
struct Keyed<8> {
    using Key = u64;
    u64 key;
    u32 next;
    __device__ static Keyed of(Key key, u32 step) { return {key, step + 1}; }
    __device__ bool below(Keyed o) const { return key < o.key || (key == o.key && next < o.next); }
    __device__ u32 step() const { return next - 1; }
};
using Key = Keyed<sizeof(T)>::Key;
constexpr Key TOP = (Key)1 << (sizeof(Key) * 8 - 1);

// Of a float's bits; both zeros are one.
__device__ __forceinline__ Key key_of_bits(Key bits, Key infinity, u32 smallest) {
    Key key = bits & TOP ? (Key)0 - bits : bits + TOP;
    return (bits & (TOP - 1)) > infinity ? ~(Key)0 : smallest ? ~key : key;
}
__device__ __forceinline__ Key key_of(float x, u32 smallest) { return key_of_bits(__float_as_uint(x), 0x7f800000, smallest); }
__device__ __forceinline__ Key key_of(f16 x, u32 smallest) { return key_of(to_f32(x), smallest); }
__device__ __forceinline__ Key key_of(bf16 x, u32 smallest) { return key_of(to_f32(x), smallest); }
__device__ __forceinline__ Key key_of(double x, u32 smallest) {
    return key_of_bits((Key)__double_as_longlong(x), (Key)0x7ff0000000000000ull, smallest);
}
__device__ __forceinline__ Key key_of(i64 x, u32 smallest) { return ((Key)x ^ TOP) ^ (smallest ? ~(Key)0 : 0); }
__device__ __forceinline__ Key key_of(i32 x, u32 smallest) { return ((Key)x ^ TOP) ^ (smallest ? ~(Key)0 : 0); }
__device__ __forceinline__ Key key_of(u8 x, u32 smallest) { return (Key)x ^ (smallest ? ~(Key)0 : 0); }

struct State {
    Keyed<sizeof(T)> best;
    __device__ static State none() { return {}; }
    __device__ static State of(T x, u64 step, u32 smallest) { return {Keyed<sizeof(T)>::of(key_of(x, smallest), (u32)step)}; }
    __device__ State then(State after, u32) const { return best.below(after.best) ? after : *this; }
};
#endif

enum : u32 { THREADS = 256, WARPS = THREADS / 32, WORDS = sizeof(State) / 4 };

struct Scan {
    Out* out;
    const T* x;             // without it, the board is made empty
    const T* a;             // the factors of a recurrence
    u64* board;             // what blocks tell each other, where a line has several chunks
    u64 words;              // of the board
    u64 outer, length, inner;
    u64 chunk;              // elements along the axis that one warp or block has
    u64 chunks;             // in a line
    u64 told;               // sums of a line: of its chunks, of groups of them, of groups of those
    u32 levels;             // kinds of these
    u32 reverse;
    u32 smallest;
    u32 together;           // the warps of a block share a chunk
    u32 vector;             // elements side by side are read and written together
    u32 lanes;              // of a warp, that share a line: 32, or fewer where lines are short; the lines beside each other that a block has
    u32 values;             // extremes themselves are asked for, not their indices
    u32 unused;
};

#if V_EXTREME
// Where along the axis an extreme stands.
__device__ __forceinline__ u64 stands(const Scan& p, State s) { return p.reverse ? p.length - 1 - s.best.step() : s.best.step(); }
#endif

// Of an element at `at`, whose line begins at `line`. Extremes are asked for as well as where they stand; they are read there again, by most
// threads of a warp the same one.
__device__ __forceinline__ void write(const Scan& p, u64 line, u64 at, State s) {
#if V_EXTREME
    u64 from = stands(p, s);
    if (p.values) ((T*)p.out)[at] = p.x[line + from * p.inner];
    else p.out[at] = (i64)from;
#else
    p.out[at] = s.out();
#endif
}

__device__ void clear(const Scan& p) {
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.words; i += (u64)gridDim.x * THREADS) p.board[i] = 0;
}

// Half of each word is a part of the state, and half says that it is there: words are written and read at once, so nothing
// else has to be in order.
__device__ __forceinline__ void tell(u64* at, State s) {
    union {
        State state;
        u32 word[WORDS];
    } from;
    from.state = s;
#pragma unroll
    for (u32 i = 0; i < WORDS; i++)
        asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at + i), "l"((u64)1 << 32 | from.word[i]) : "memory");
}
__device__ __forceinline__ State told(const u64* at) {
    union {
        State state;
        u32 word[WORDS];
    } to;
    for (bool there = false; !there;) {
        u64 word[WORDS];
#pragma unroll
        for (u32 i = 0; i < WORDS; i++)
            asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word[i]) : "l"(at + i) : "memory");
        there = true;
#pragma unroll
        for (u32 i = 0; i < WORDS; i++) {
            there = there && word[i] >> 32;
            to.word[i] = (u32)word[i];
        }
    }
    return to.state;
}

__device__ __forceinline__ State up(State s, u32 by) {
    union {
        State state;
        u32 word[WORDS];
    } from, to;
    from.state = s;
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) to.word[i] = __shfl_up_sync(0xffffffffu, from.word[i], by);
    return to.state;
}
__device__ __forceinline__ State from_lane(State s, u32 lane) {
    union {
        State state;
        u32 word[WORDS];
    } from, to;
    from.state = s;
#pragma unroll
    for (u32 i = 0; i < WORDS; i++) to.word[i] = __shfl_sync(0xffffffffu, from.word[i], lane);
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

__device__ __forceinline__ uint4 of_neighbour(uint4 x) {
    x.x = __shfl_xor_sync(~0u, x.x, 1);
    x.y = __shfl_xor_sync(~0u, x.y, 1);
    x.z = __shfl_xor_sync(~0u, x.z, 1);
    x.w = __shfl_xor_sync(~0u, x.w, 1);
    return x;
}

// Writes a lane's elements, which are in the order of memory. All lanes of a warp come here.
template <typename N>
__device__ __forceinline__ void store(const Scan& p, N* line, u64 at, bool whole, const Pack<N>& pack) {
    if constexpr (sizeof(N) == 8) {
        // Two lanes write what lies in 32 bytes, of one and then of the other: memory takes no halves as fast.
        const uint4* mine = (const uint4*)&pack;
        bool odd = threadIdx.x & 1;
        uint4 first = of_neighbour(odd ? mine[0] : mine[1]), second = of_neighbour(odd ? mine[2] : mine[3]);
        u64 even_at = odd ? at - EACH : at;
        if (p.vector && p.lanes > 1 && even_at + 2 * EACH <= p.length) {
            uint4* even = (uint4*)(line + place(p, even_at)) + odd;
            uint4* other = (uint4*)(line + place(p, even_at + EACH)) + odd;
            even[0] = odd ? first : mine[0];
            even[2] = odd ? second : mine[2];
            other[0] = odd ? mine[1] : first;
            other[2] = odd ? mine[3] : second;
            return;
        }
    }
    if (whole) {
        *(Pack<N>*)(line + place(p, at)) = pack;
        return;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        u64 step = at + (p.reverse ? EACH - 1 - i : i);
        if (step < p.length) line[p.reverse ? p.length - 1 - step : step] = pack.v[i];
    }
}

constexpr u32 GROUP = 32, GROUP_BITS = 5;
// What a lane has up to each element is kept where that takes no more registers than the elements, and joined anew where not:
// with blocks enough on a multiprocessor f32 is a sixth faster so.
constexpr bool KEPT = sizeof(State) <= sizeof(T);
// Elements that are joined anew are read again, from the cache: registers that hold them meanwhile are worth more than that.
#if V_SUM || V_PROD || V_EXTREME
constexpr bool AGAIN = !KEPT;
#else
constexpr bool AGAIN = false;
#endif

// What stands before a block's chunk, of which `own` is the sum: a warp for each kind of group, from small to large.
__device__ __forceinline__ State look_back(const Scan& p, u64 row, u64 chunk, State own) {
    __shared__ State ahead[WARPS];
    u32 lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    u64* line = p.board + row * p.told * WORDS;
    if (threadIdx.x == 0) tell(line + chunk * WORDS, own);
    if (warp < p.levels) {
        u64 count = p.chunks, at = chunk;
        for (u32 level = 0; level < warp; level++) {
            line += count * WORDS;
            count /= GROUP;
            at /= GROUP;
        }
        u32 before = at % GROUP;
        // The last of its group tells what the group comes to.
        bool last = warp + 1 < p.levels && (chunk + 1) % ((u64)1 << GROUP_BITS * (warp + 1)) == 0;
        State s = State::none();
        if (lane < before || (last && lane == before)) s = told(line + (at - before + lane) * WORDS);
        __syncwarp();
        State all = across(s, p.smallest);
        if (last && lane == 31) tell(line + (count + at / GROUP) * WORDS, all);
        State below = from_lane(all, before ? before - 1 : 0);
        if (lane == 0) ahead[warp] = before ? below : State::none();
    }
    __syncthreads();
    State start = State::none();
    for (u32 level = p.levels; level-- > 0;) start = start.then(ahead[level], p.smallest);
    return start;
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scan p) {
    if (!p.x) return clear(p);
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
#if V_LINEAR
        return State::of(v[t][e], a[t][e]);
#elif V_EXTREME
        return State::of(v[t][e], mine_at + (u64)(t * 32 * EACH) + e, p.smallest);
#else
        return State::of(v[t][e]);
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
    // Each lane's elements are joined, then the lanes, then the groups one after the other.
    State carry = State::none();
    State before[TIMES];
    State kept[KEPT ? TIMES : 1][KEPT ? EACH : 1];
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
        if (t >= times) break;
        State mine = State::none();
        bool all_there = whole(t);
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (all_there || mine_at + (u64)(t * 32 * EACH) + e < p.length) mine = e ? mine.then(element(t, e), p.smallest) : element(t, e);
            if constexpr (KEPT) kept[t][e] = mine;
        }
        State all = across(mine, p.smallest, lanes);
        State below = up(all, 1);
        before[t] = lane > 0 ? carry.then(below, p.smallest) : carry;
        carry = carry.then(from_lane(all, 31), p.smallest);
    }
    State start = State::none();
    if (p.together) {
        if (lane == 31) sums[warp] = carry;
        __syncthreads();
        if (p.board) {
            State own = sums[0];
            for (u32 w = 1; w < WARPS; w++) own = own.then(sums[w], p.smallest);
            start = look_back(p, row, chunk, own);
        }
        for (u32 w = 0; w < warp; w++) start = start.then(sums[w], p.smallest);
    }
    u64 line_at = row * p.length;
#pragma unroll
    for (int t = 0; t < TIMES; t++) {
        if (t >= times) break;
        if constexpr (AGAIN) {
            asm volatile("" ::: "memory");
            load(p, line, mine_at + t * 32 * EACH, whole(t), v[t]);
        }
        State now = start.then(before[t], p.smallest);
        auto up_to = [&](int e) {
            if constexpr (KEPT) return now.then(kept[t][e], p.smallest);
            else return now = now.then(element(t, e), p.smallest);
        };
        u64 at = mine_at + (u64)(t * 32 * EACH);
#if V_EXTREME
        if (p.values) {
            // Behind the line there is nothing to stand at.
            Pack<T> pack;
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                T now_value = at + e < p.length ? line[stands(p, up_to(e))] : T();
                if (p.reverse) pack.v[EACH - 1 - e] = now_value;
                else pack.v[e] = now_value;
            }
            store(p, (T*)p.out + line_at, at, whole(t), pack);
            continue;
        }
#endif
        Pack<Out> pack;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
#if V_EXTREME
            Out now_out = (i64)stands(p, up_to(e));
#else
            Out now_out = up_to(e).out();
#endif
            if (p.reverse) pack.v[EACH - 1 - e] = now_out;
            else pack.v[e] = now_out;
        }
        store(p, p.out + line_at, at, whole(t), pack);
    }
}
#endif

#if V_COLUMNS
// Lines beside each other: a block has up to 32 of them, and of each as many elements as its threads hold.
#if V_LINEAR
constexpr int DEEP = sizeof(T) > 4 ? 8 : 16;
#else
constexpr int DEEP = sizeof(T) > 4 ? 16 : 32;
#endif
constexpr u32 GROUP = 8;

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Scan p) {
    if (!p.x) return clear(p);
    __shared__ State sums[THREADS];
    u32 lanes = p.lanes, parts = THREADS / lanes, lane = threadIdx.x & (lanes - 1), part = threadIdx.x / lanes;
    u64 number = blockIdx.x, beside = (p.inner + lanes - 1) / lanes;
    u64 column = number % beside * lanes + lane, rest = number / beside;
    u64 row = rest / p.chunks, chunk = rest - row * p.chunks;
    bool here = column < p.inner;
    u64 base = row * p.length * p.inner + column;
    u64 end = min((chunk + 1) * p.chunk, p.length);
    // Backwards, the first element is the last one in memory.
    i64 stride = p.reverse ? -(i64)p.inner : (i64)p.inner;
    State carry = State::none();
    for (u64 from = chunk * p.chunk; from < end; from += (u64)parts * DEEP) {
        u64 first = from + (u64)part * DEEP;
        int count = here && first < end ? (int)min((u64)DEEP, end - first) : 0;
        i64 origin = (i64)base + (i64)(p.reverse ? p.length - 1 - first : first) * (i64)p.inner;
        T v[DEEP] = {};
#if V_LINEAR
        T a[DEEP] = {};
#endif
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            if (e >= count) break;
            v[e] = p.x[origin + e * stride];
#if V_LINEAR
            a[e] = p.a[origin + e * stride];
#endif
        }
        auto element = [&](int e) {
#if V_LINEAR
            return State::of(v[e], a[e]);
#elif V_EXTREME
            return State::of(v[e], first + e, p.smallest);
#else
            return State::of(v[e]);
#endif
        };
        State mine = State::none();
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            if (e >= count) break;
            mine = mine.then(element(e), p.smallest);
        }
        // The parts of a line, joined.
        __syncthreads();
        sums[threadIdx.x] = mine;
        __syncthreads();
        for (u32 by = 1; by < parts; by *= 2) {
            State all = sums[threadIdx.x];
            if (part >= by) all = sums[threadIdx.x - by * lanes].then(all, p.smallest);
            __syncthreads();
            sums[threadIdx.x] = all;
            __syncthreads();
        }
        State before = part > 0 ? sums[threadIdx.x - lanes] : State::none();
        State own = sums[(parts - 1) * lanes + lane];
        if (p.board) {
            u64* line = p.board + (row * p.told * p.inner + column) * WORDS;
            u64 there = p.chunks, at = chunk;
            // What the chunk comes to, then its group, and so on, as long as it is the last one of it.
            State group = own;
            bool last = true;
            for (u32 level = 0; level < p.levels; level++) {
                if (last && here && part == 0) tell(line + at * p.inner * WORDS, group);
                u32 preceding = at % GROUP;
                State s = State::none();
                if (here && part < preceding) s = told(line + (at - preceding + part) * p.inner * WORDS);
                __syncthreads();
                if (part < GROUP) sums[threadIdx.x] = s;
                __syncthreads();
                State earlier = State::none();
                for (u32 i = 0; i < preceding; i++) earlier = earlier.then(sums[i * lanes + lane], p.smallest);
                carry = earlier.then(carry, p.smallest);
                group = earlier.then(group, p.smallest);
                last = last && preceding == GROUP - 1;
                line += there * p.inner * WORDS;
                there /= GROUP;
                at /= GROUP;
            }
        }
        State now = carry.then(before, p.smallest);
#pragma unroll
        for (int e = 0; e < DEEP; e++) {
            if (e >= count) break;
            now = now.then(element(e), p.smallest);
            write(p, base, (u64)(origin + e * stride), now);
        }
        carry = carry.then(own, p.smallest);
    }
}
#endif
