// How much labels surprise under the softmax of the scores of some rows, and what flows back to these scores. They lie as a product left them,
// a line for each word, in which rows are neighbours: lines are aligned whatever the number of words is.
#include "common.cuh"

using T = V_T;  // of scores
using S = V_S;  // of sums

// ROWS: neighbouring rows of a thread. AHEAD: words that a thread asks for at a time.
enum : u32 { THREADS = 256, WARPS = THREADS / 32, ROWS = V_ROWS, AHEAD = 4, SEGMENT = 32 * ROWS };
enum : u32 { NOT_SPREAD = 0, EVENLY = 1, WEIGHTED = 2 };

struct Surprise {
    T* scores;
    const T* bias;       // of words, or null
    const S* weight;     // of words, where the spread is weighted
    const i64* labels;   // of the rows
    // What chunks of words have come to: chunks, rows.
    S* tops;
    S* sums;
    S* spreads;
    S* weights;          // chunks
    S* stats;            // four for each row: the largest score, what its exponentials are multiplied by, what flows back
    const S* given;      // what flows back to each row's surprise, and `all` further on to its spread; or null
    S* out;              // each row's surprise, and `all` further on the spread
    S* bias_parts;       // segments, words
    S* bias_sums;        // of words: of the rows so far
    T* bias_out;         // where these are the last, or null
    u64 all;
    u32 rows, words;
    u32 segments;        // of rows
    u32 chunk, chunks;   // words of a chunk, and how many of these there are
    u32 spread;
    u32 first;           // whether no rows were before these
};

__device__ __forceinline__ float wide(float x) { return x; }
__device__ __forceinline__ double wide(double x) { return x; }
__device__ __forceinline__ float wide(f16 x) { return to_f32(x); }
__device__ __forceinline__ float wide(bf16 x) { return to_f32(x); }
__device__ __forceinline__ float narrow(float x, float) { return x; }
__device__ __forceinline__ double narrow(double x, double) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

// Of scores of half types an exponential has more digits than they have without its last ones.
__device__ __forceinline__ float power(float x, float) { return expf(x); }
__device__ __forceinline__ double power(double x, double) { return exp(x); }
template <typename H>
__device__ __forceinline__ float power(float x, H) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.4426950408889634f));
    return y;
}
__device__ __forceinline__ float power(float x) { return power(x, T()); }
__device__ __forceinline__ double power(double x) { return exp(x); }
__device__ __forceinline__ float logarithm(float x) { return logf(x); }
__device__ __forceinline__ double logarithm(double x) { return log(x); }

__device__ __forceinline__ float least(float) { return __int_as_float(0xff800000); }
__device__ __forceinline__ double least(double) { return __longlong_as_double(0xfff0000000000000ll); }
// The larger one; NaN counts in sums alone.
__device__ __forceinline__ S larger(S a, S b) { return b > a ? b : a; }
// What is taken off before an exponential: where there is nothing yet, nothing.
__device__ __forceinline__ S shift(S top) { return top > least(S()) ? top : S(0); }

// Scores of neighbouring rows.
struct alignas(sizeof(T) * ROWS) Few {
    T x[ROWS];
};

// What some words of a row have come to.
struct State {
    S top, sum, spread;
    __device__ __forceinline__ void add(const State& o) {
        S both = larger(top, o.top), off = shift(both);
        sum = sum * power(top - off) + o.sum * power(o.top - off);
        top = both;
        spread += o.spread;
    }
};

#ifdef V_SUM
// The largest score of each row, the sum of the exponentials and of the scores themselves: of a chunk of words.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Surprise p) {
    __shared__ State states[WARPS][SEGMENT];
    __shared__ S weights[WARPS];
    u32 segment = blockIdx.x % p.segments, chunk = blockIdx.x / p.segments;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 row = segment * SEGMENT + lane * ROWS;
    bool there = row < p.rows;
    S top[ROWS], sum[ROWS], spread[ROWS], weight = 0;
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) top[j] = least(S()), sum[j] = spread[j] = 0;
    u32 begin = chunk * p.chunk, end = min(begin + p.chunk, p.words);
    for (u32 c = begin + warp; c < end; c += WARPS * AHEAD) {
        Few few[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++)
            if (there && c + i * WARPS < end) few[i] = *(const Few*)(p.scores + (u64)(c + i * WARPS) * p.rows + row);
        S z[AHEAD][ROWS], best[ROWS];
#pragma unroll
        for (u32 j = 0; j < ROWS; j++) best[j] = top[j];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            bool is = there && c + i * WARPS < end;
            S more = is && p.bias ? wide(p.bias[c + i * WARPS]) : S(0);
#pragma unroll
            for (u32 j = 0; j < ROWS; j++) {
                z[i][j] = is ? wide(few[i].x[j]) + more : least(S());
                best[j] = larger(best[j], z[i][j]);
            }
            if (p.spread != NOT_SPREAD && c + i * WARPS < end) {
                S share = p.spread == WEIGHTED ? p.weight[c + i * WARPS] : S(1);
                weight += share;
#pragma unroll
                for (u32 j = 0; j < ROWS; j++) spread[j] += share * z[i][j];
            }
        }
#pragma unroll
        for (u32 j = 0; j < ROWS; j++) {
            S off = shift(best[j]);
            sum[j] *= power(top[j] - off);
            top[j] = best[j];
#pragma unroll
            for (u32 i = 0; i < AHEAD; i++) sum[j] += power(z[i][j] - off);
        }
    }
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) states[warp][lane * ROWS + j] = State{top[j], sum[j], spread[j]};
    if (lane == 0) weights[warp] = weight;
    __syncthreads();
    for (u32 i = threadIdx.x; i < SEGMENT; i += THREADS) {
        u32 own = segment * SEGMENT + i;
        if (own >= p.rows) break;
        State all = states[0][i];
#pragma unroll
        for (u32 w = 1; w < WARPS; w++) all.add(states[w][i]);
        u64 at = (u64)chunk * p.rows + own;
        p.tops[at] = all.top;
        p.sums[at] = all.sum;
        if (p.spread != NOT_SPREAD) p.spreads[at] = all.spread;
    }
    if (segment == 0 && threadIdx.x == 0 && p.spread != NOT_SPREAD) {
        S all = 0;
        for (u32 w = 0; w < WARPS; w++) all += weights[w];
        p.weights[chunk] = all;
    }
}
#endif

#ifdef V_JOIN
// What all words of a row have come to: a lane for each of 32 rows, a warp for some of the chunks.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Surprise p) {
    __shared__ State states[WARPS][32];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 row = blockIdx.x * 32 + lane;
    bool there = row < p.rows;
    State all{least(S()), S(0), S(0)};
    for (u32 chunk = warp; chunk < p.chunks; chunk += WARPS * AHEAD) {
        State of[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            of[i] = State{least(S()), S(0), S(0)};
            if (!there || chunk + i * WARPS >= p.chunks) continue;
            u64 at = (u64)(chunk + i * WARPS) * p.rows + row;
            of[i] = State{p.tops[at], p.sums[at], p.spread != NOT_SPREAD ? p.spreads[at] : S(0)};
        }
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) all.add(of[i]);
    }
    states[warp][lane] = all;
    __syncthreads();
    if (warp != 0 || !there) return;
#pragma unroll
    for (u32 w = 1; w < WARPS; w++) all.add(states[w][lane]);
    S weight = 0;
    if (p.spread != NOT_SPREAD)
        for (u32 chunk = 0; chunk < p.chunks; chunk++) weight += p.weights[chunk];
    S log = logarithm(all.sum);
    i64 label = p.labels[row];
    S own = 0;
    // One that is not there was told of before.
    if ((u64)label < p.words) own = wide(p.scores[(u64)label * p.rows + row]) + (p.bias ? wide(p.bias[label]) : S(0));
    p.out[row] = log - (own - all.top);
    if (p.spread != NOT_SPREAD) p.out[p.all + row] = weight * log - (all.spread - weight * all.top);
    if (!p.given) return;
    S flow = p.given[row], evenly = p.spread != NOT_SPREAD ? p.given[p.all + row] : S(0);
    p.stats[row] = all.top;
    // What nothing flows back to has no slope, be its scores what they may.
    p.stats[p.rows + row] = flow == 0 && evenly == 0 ? S(0) : (flow + evenly * weight) / all.sum;
    p.stats[2 * (u64)p.rows + row] = flow;
    p.stats[3 * (u64)p.rows + row] = evenly;
}
#endif

#ifdef V_SLOPE
// What flows back to each score, in its place; and with a bias the sum for each word over the rows of a segment.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Surprise p) {
    u32 segment = blockIdx.x % p.segments, chunk = blockIdx.x / p.segments;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 row = segment * SEGMENT + lane * ROWS;
    bool there = row < p.rows;
    S top[ROWS], scale[ROWS], flow[ROWS], evenly[ROWS];
    u32 label[ROWS];
#pragma unroll
    for (u32 j = 0; j < ROWS; j++) {
        top[j] = scale[j] = flow[j] = evenly[j] = 0, label[j] = ~0u;
        if (!there) continue;
        top[j] = p.stats[row + j];
        scale[j] = p.stats[p.rows + row + j];
        flow[j] = p.stats[2 * (u64)p.rows + row + j];
        if (p.spread != NOT_SPREAD) evenly[j] = p.stats[3 * (u64)p.rows + row + j];
        label[j] = (u32)p.labels[row + j];
    }
    u32 begin = chunk * p.chunk, end = min(begin + p.chunk, p.words);
    for (u32 c = begin + warp; c < end; c += WARPS * AHEAD) {
        Few few[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++)
            if (there && c + i * WARPS < end) few[i] = *(const Few*)(p.scores + (u64)(c + i * WARPS) * p.rows + row);
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++) {
            u32 word = c + i * WARPS;
            if (word >= end) break;
            S more = p.bias ? wide(p.bias[word]) : S(0), total = 0;
            S share = p.spread == WEIGHTED ? p.weight[word] : S(1);
            if (there) {
#pragma unroll
                for (u32 j = 0; j < ROWS; j++) {
                    S slope = scale[j] == 0 ? S(0) : scale[j] * power(wide(few[i].x[j]) + more - top[j]);
                    if (word == label[j]) slope -= flow[j];
                    if (p.spread != NOT_SPREAD) slope -= evenly[j] * share;
                    few[i].x[j] = narrow(slope, T());
                    total += wide(few[i].x[j]);
                }
                *(Few*)(p.scores + (u64)word * p.rows + row) = few[i];
            }
            if (p.bias_parts) {
#pragma unroll
                for (u32 step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0u, total, step);
                if (lane == 0) p.bias_parts[(u64)segment * p.words + word] = total;
            }
        }
    }
}
#endif

#ifdef V_BIAS
// The sums of all segments, for each word.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Surprise p) {
    u32 word = blockIdx.x * THREADS + threadIdx.x;
    if (word >= p.words) return;
    S sum = p.first ? S(0) : p.bias_sums[word];
    for (u32 segment = 0; segment < p.segments; segment++) sum += p.bias_parts[(u64)segment * p.words + word];
    if (p.bias_out)
        p.bias_out[word] = narrow(sum, T());
    else
        p.bias_sums[word] = sum;
}
#endif

#ifdef V_ADD
// A part of the weight's gradient, added to what there is of it: `rows` of them at `bias_sums`, to `out`.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Surprise p) {
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.all; i += (u64)gridDim.x * THREADS) p.out[i] += p.bias_sums[i];
}
#endif
