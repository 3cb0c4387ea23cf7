// Convolutions of which each filter sees one channel, and their gradients: bound by memory, which is read and written once, in the order in which
// it lies.
//
// A block has lines of planes in shared memory as they lie: of all images' planes some that follow each other, or a strip of one. A thread walks down
// some columns, and each line that it reads goes to all results that see it: these are in registers until their last line was there. What a block has next is
// brought meanwhile.
//
// V_GATHER: the convolution, and the gradient by the input where steps are 1: the same with the taps the other way round. V_INPUT: the gradient by the
// input where steps are 2. Of it a thread has pairs of lines and columns, which see the same elements. V_WEIGHT: the gradient by the weight. A block has the
// same channels of some images, one after the other; what blocks leave of a channel is added in the order of images. V_LARGE: of kernels of side 7, whose
// threads have more registers; else of 3 and 5.
//
// Zeros beyond the edge are multiplied as other elements are, but for the gradient by the input, which has none: 0 * inf is NaN.
#include "index.cuh"
#include "span.cuh"

using T = V_T;
constexpr u32 THREADS = 256;
#if !V_INPUT
// Columns of a thread side by side.
constexpr int V = sizeof(T) == 2 ? 2 : 1;
#endif

struct Depthwise {
    void* out;
    const T* x;      // images; of V_INPUT the gradient of the result
    const T* w;      // the weight; of V_WEIGHT the gradient of the result
    float* parts;    // of V_WEIGHT, where there are several: sums of each part of the images
    u32 side, step;  // of the kernel
    u32 planes;      // of the result, of all images; of V_WEIGHT those that an image of w has
    u32 each;        // of them a block has so many
    u32 in_h, in_w;  // of x
    u32 out_h, out_w;  // of the result; of V_WEIGHT of w
    u32 lines;       // of a plane of the result (pairs of them; of w) that a block has at a time
    u32 run;         // that a thread has
    i32 pad_y, pad_x;
    u32 turned;      // the gradient by the input: taps are the other way round
    u32 stage, made, weights;  // bytes of shared memory from one stage of what is read to the next; where it has what is made (of V_WEIGHT w), and the weight
    u32 units, share;  // tiles of all planes (of V_WEIGHT strips of all images), and of a block
    u32 lanes;       // of V_WEIGHT: threads that add up what threads found for one element of the weight
    u32 count;       // of V_WEIGHT: elements of the result
    Divisor strips;  // of a plane
    Divisor runs, across;  // of a strip: threads above each other, and side by side
    Divisor channels;    // planes of an image's result
    Divisor multiplier;  // planes of the result for each of x
};

__device__ __forceinline__ float narrow(float x, float) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

// Lines of planes that a block has: `lines` of each from `low` on, which are all where there are several planes.
struct Lines {
    u32 plane, planes, low, lines;

    __device__ __forceinline__ u32 apart(u32 width) const { return lines * width; }
    __device__ __forceinline__ u64 first(u32 height, u32 width) const { return ((u64)plane * height + low) * width; }
    __device__ __forceinline__ u32 count(u32 width) const { return planes * lines * width; }
};

// What a thread has: lines `from` to `to` of a strip of a plane, and the place of its columns.
struct Item {
    u32 plane, from, to, column;

    __device__ __forceinline__ Item(const Depthwise& p, u32 at, u32 lines) {
        const u32 rest = p.across.divide(at);
        column = at - rest * p.across.size;
        plane = p.runs.divide(rest);
        from = min((rest - plane * p.runs.size) * p.run, lines);
        to = min(from + p.run, lines);
    }
};

// The lines that a strip of results sees.
__device__ __forceinline__ Lines seen(const Depthwise& p, u32 first, u32 last, u32 from, u32 lines) {
    Lines all = {first, last - first + 1, 0, p.in_h};
    if (p.strips.size > 1) {
#if V_INPUT
        const i32 end = (i32)(from + lines) + (p.pad_y >> 1), begin = end - (i32)lines - (i32)(p.side / 2);
#else
        const i32 begin = (i32)(from * p.step) - p.pad_y, end = begin + (i32)((lines - 1) * p.step + p.side);
#endif
        all.low = (u32)min(max(begin, 0), (i32)p.in_h);
        all.lines = (u32)max(min(end, (i32)p.in_h), (i32)all.low) - all.low;
    }
    return all;
}

// Reads some columns of a line, those that are on it. What is not is 0.
template <int N>
__device__ __forceinline__ void read(float (&v)[N], const T* at, i32 column, u32 width, bool inside) {
#pragma unroll
    for (int i = 0; i < N; i++) v[i] = 0;
    if (inside) {
#pragma unroll
        for (int i = 0; i < N; i++)
            if ((u32)(column + i) < width) v[i] = to_f32(at[i]);
    }
}

#if V_GATHER || V_INPUT
// Has the weight of a block's planes in shared memory.
__device__ __forceinline__ void bring_weight(const Depthwise& p, float* to, const Lines& own) {
    const u32 taps = p.side * p.side;
    for (u32 i = threadIdx.x; i < own.planes * taps; i += THREADS) {
        const u32 of = i / taps, tap = i - of * taps, plane = own.plane + of;
        const T* w = p.w + (plane - p.channels.divide(plane) * p.channels.size) * taps;
        to[i] = to_f32(w[p.turned ? taps - 1 - tap : tap]);
    }
}

// A block's planes of a tile, and the lines that they see.
struct Tile {
    u32 from, lines_of_threads;
    Lines own, lines;

    __device__ __forceinline__ Tile(const Depthwise& p, u32 tile) {
        const u32 group = p.strips.divide(tile);
        from = (tile - group * p.strips.size) * p.lines;
        own = {group * p.each, min(p.each, p.planes - group * p.each), from, min(p.lines, p.out_h - from)};
        lines_of_threads = own.lines;
#if V_INPUT
        // Pairs of lines.
        const u32 odd = (u32)p.pad_y & 1;
        lines_of_threads = min(p.lines, (p.out_h + odd + 1) / 2 - from);
        own.low = (u32)max((i32)(from * 2 - odd), 0);
        own.lines = min((from + lines_of_threads) * 2 - odd, p.out_h) - own.low;
#endif
        lines = seen(p, p.multiplier.divide(own.plane), p.multiplier.divide(own.plane + own.planes - 1), from, lines_of_threads);
    }

    // Has what is seen in a stage, once copies were waited for. Where it begins comes back.
    __device__ __forceinline__ const T* bring(const Depthwise& p, T* stage) const {
        return stage + bring_ahead<THREADS>(stage, p.x + lines.first(p.in_h, p.in_w), lines.count(p.in_w));
    }
};

// Does a block's tiles, each while the next one's elements are under way. `walk` has a thread's share of a tile.
template <typename F>
__device__ __forceinline__ void run(const Depthwise& p, F walk) {
    extern __shared__ uint4 memory[];
    u8* bytes = (u8*)memory;
    T* made = (T*)(bytes + p.made);
    float* weights = (float*)(bytes + p.weights);
    const u32 end = min((blockIdx.x + 1) * p.share, p.units);
    u32 at = blockIdx.x * p.share, stage = 0;
    const T* x = Tile(p, at).bring(p, (T*)bytes);
    copies_end_stage();
#pragma unroll 1
    for (; at < end; at++) {
        const Tile tile(p, at);
        const T* now = x;
        bring_weight(p, weights, tile.own);
        copies_wait<0>();
        // Nobody reads the other stage any more, nor the last tile's results.
        __syncthreads();
        stage = p.stage - stage;
        if (at + 1 < end) x = Tile(p, at + 1).bring(p, (T*)(bytes + stage));
        copies_end_stage();
        T* out = (T*)p.out + tile.own.first(p.out_h, p.out_w);
        const u32 items = tile.own.planes * p.runs.size * p.across.size;
#pragma unroll 1
        for (u32 i = threadIdx.x; i < items; i += THREADS) {
            const Item item(p, i, tile.lines_of_threads);
            const T* of_plane = now + (p.multiplier.divide(tile.own.plane + item.plane) - tile.lines.plane) * tile.lines.apart(p.in_w);
            T* to = made + skipped(out) + item.plane * tile.own.apart(p.out_w);
            walk(item, tile, of_plane, to, weights + item.plane * p.side * p.side);
        }
        __syncthreads();
        leave<THREADS>(out, made, tile.own.count(p.out_w));
    }
}
#endif

#if V_GATHER
// Results whose windows see a line, K / S of each column, are open: the last one is full when its K lines were there.
template <int K, int S>
__device__ __forceinline__ void walk(const Depthwise& p, const Item& item, const T* x, T* to, const float* weight, const Lines& lines, u32 from) {
    constexpr int OPEN = (K + S - 1) / S, SEEN = (V - 1) * S + K;
    float w[K][K], sum[OPEN][V] = {}, zero = 0;
#pragma unroll
    for (int i = 0; i < K; i++)
#pragma unroll
        for (int j = 0; j < K; j++) {
            w[i][j] = weight[i * K + j];
            zero = __fmaf_rn(w[i][j], 0, zero);
        }
    // Zeros beyond the edge matter where a factor is not finite. The gradient by the input leaves them out: its results are found one by one then.
    const bool odd = zero != 0;
    if (odd && p.turned) {
#pragma unroll 1
        for (u32 i = 0; i < (item.to - item.from) * V; i++) {
            const u32 o = item.from + i / V, column = item.column * V + i % V;
            if (column >= p.out_w) continue;
            float exact = 0;
#pragma unroll 1
            for (u32 tap = 0; tap < K * K; tap++) {
                const u32 line = (from + o) * S - (u32)p.pad_y + tap / K - lines.low, at = column * S - (u32)p.pad_x + tap % K;
                if (line < lines.lines && at < p.in_w) exact = __fmaf_rn(weight[tap], to_f32(x[line * p.in_w + at]), exact);
            }
            to[o * p.out_w + column] = narrow(exact, T());
        }
        return;
    }
    const i32 column = (i32)(item.column * V * S) - p.pad_x;
    i32 line = (i32)((from + item.from) * S) - p.pad_y - (i32)lines.low;
    x += line * (i32)p.in_w + column;
    to += item.from * p.out_w + item.column * V;
    const bool both = item.column * V + 1 < p.out_w;
#pragma unroll 1
    for (u32 o = item.from; o < item.to + OPEN - 1; o++) {
#pragma unroll
        for (int j = 0; j < S; j++, line++, x += p.in_w) {
            const bool inside = (u32)line < lines.lines;
            if (!inside && !odd) continue;
            float v[SEEN];
            read(v, x, column, p.in_w, inside);
#pragma unroll
            for (int i = 0; i < OPEN; i++)
#pragma unroll
                for (int s = 0; s < K; s++)
#pragma unroll
                    for (int c = 0; c < V; c++)
                        if (i * S + j < K) sum[i][c] = __fmaf_rn(w[i * S + j < K ? i * S + j : 0][s], v[c * S + s], sum[i][c]);
        }
        if (o >= item.from + OPEN - 1) {
            to[0] = narrow(sum[OPEN - 1][0], T());
            if (V > 1 && both) to[V - 1] = narrow(sum[OPEN - 1][V - 1], T());
            to += p.out_w;
        }
#pragma unroll
        for (int c = 0; c < V; c++) {
#pragma unroll
            for (int i = OPEN - 1; i > 0; i--) sum[i][c] = sum[i - 1][c];
            sum[0][c] = 0;
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, V_LARGE ? 2 : 4) V_NAME(const __grid_constant__ Depthwise p) {
    run(p, [&](const Item& item, const Tile& tile, const T* x, T* to, const float* weight) {
#if V_LARGE
        walk<7, 1>(p, item, x, to, weight, tile.lines, tile.from);
#else
        if (p.step == 1 && p.side == 3) walk<3, 1>(p, item, x, to, weight, tile.lines, tile.from);
        else if (p.step == 1) walk<5, 1>(p, item, x, to, weight, tile.lines, tile.from);
        else if (p.side == 3) walk<3, 2>(p, item, x, to, weight, tile.lines, tile.from);
        else walk<5, 2>(p, item, x, to, weight, tile.lines, tile.from);
#endif
    });
}
#elif V_INPUT
// Each line goes to pairs of lines that see it: the first one is full then.
template <int K>
__device__ __forceinline__ void walk(const Depthwise& p, const Item& item, const T* x, T* to, const float* weight, const Lines& lines, const Lines& own, u32 from) {
    constexpr int OPEN = (K + 1) / 2;
    // Pairs of lines and columns begin at an even place of the padded image.
    const i32 odd_y = p.pad_y & 1, odd_x = p.pad_x & 1;
    // The pair's element of x that its first taps see; those before it are seen by later ones.
    const i32 last = (i32)item.column + (p.pad_x >> 1), column = last - (OPEN - 1);
    float w[K][K], sum[OPEN][2][2] = {};
#pragma unroll
    for (int i = 0; i < K; i++)
#pragma unroll
        for (int j = 0; j < K; j++) w[i][j] = (u32)(last - j / 2) < p.in_w ? weight[i * K + j] : 0;
    i32 line = (i32)(from + item.from) + (p.pad_y >> 1) - (OPEN - 1) - (i32)lines.low;
    x += line * (i32)p.in_w + column;
#pragma unroll 1
    for (u32 o = item.from; o < item.to + OPEN - 1; o++, line++, x += p.in_w) {
        if ((u32)line < lines.lines) {
            float v[OPEN];
            read(v, x, column, p.in_w, true);
#pragma unroll
            for (int r = 0; r < K; r++)
#pragma unroll
                for (int s = 0; s < K; s++) sum[r / 2][r % 2][s % 2] = __fmaf_rn(w[r][s], v[OPEN - 1 - s / 2], sum[r / 2][r % 2][s % 2]);
        }
        if (o >= item.from + OPEN - 1) {
#pragma unroll
            for (int y = 0; y < 2; y++)
#pragma unroll
                for (int i = 0; i < 2; i++) {
                    const i32 to_line = (i32)(from + o - (OPEN - 1)) * 2 - odd_y + y, at = (i32)item.column * 2 - odd_x + i;
                    if ((u32)to_line < p.out_h && (u32)at < p.out_w) to[((u32)to_line - own.low) * p.out_w + (u32)at] = narrow(sum[0][y][i], T());
                }
        }
#pragma unroll
        for (int y = 0; y < 2; y++)
#pragma unroll
            for (int i = 0; i < 2; i++) {
#pragma unroll
                for (int k = 0; k < OPEN - 1; k++) sum[k][y][i] = sum[k + 1][y][i];
                sum[OPEN - 1][y][i] = 0;
            }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) V_NAME(const __grid_constant__ Depthwise p) {
    run(p, [&](const Item& item, const Tile& tile, const T* x, T* to, const float* weight) {
        if (p.side == 3)
            walk<3>(p, item, x, to, weight, tile.lines, tile.own, tile.from);
        else
            walk<5>(p, item, x, to, weight, tile.lines, tile.own, tile.from);
    });
}
#else
constexpr int LARGEST = V_LARGE ? 7 : 5;

// What a thread finds of a channel's weight: the sums of its columns in all units of a block.
template <int K, int S>
__device__ __forceinline__ void walk(const Depthwise& p, const Item& item, const T* x, const T* g, const Lines& lines, u32 from, float (&sum)[LARGEST][LARGEST]) {
    constexpr int OPEN = (K + S - 1) / S, SEEN = (V - 1) * S + K;
    if (item.from >= item.to) return;
    const i32 column = (i32)(item.column * V * S) - p.pad_x;
    i32 line = (i32)((from + item.from) * S) - p.pad_y - (i32)lines.low;
    x += line * (i32)p.in_w + column;
    g += item.from * p.out_w + item.column * V;
    const bool both = item.column * V + 1 < p.out_w;
    // Results whose windows see a line, the last one first.
    float open[OPEN][V] = {};
#pragma unroll 1
    for (u32 o = item.from; o < item.to + OPEN - 1; o++) {
#pragma unroll
        for (int c = 0; c < V; c++)
#pragma unroll
            for (int i = OPEN - 1; i > 0; i--) open[i][c] = open[i - 1][c];
        if (o < item.to) {
            open[0][0] = to_f32(g[0]);
            if (V > 1) open[0][V - 1] = both ? to_f32(g[V - 1]) : 0;
            g += p.out_w;
        }
#pragma unroll
        for (int j = 0; j < S; j++, line++, x += p.in_w) {
            float v[SEEN];
            read(v, x, column, p.in_w, (u32)line < lines.lines);
#pragma unroll
            for (int i = 0; i < OPEN; i++) {
                // Not what is beyond the run: it is no factor.
                if (i * S + j >= K || o - i - item.from >= item.to - item.from) continue;
#pragma unroll
                for (int s = 0; s < K; s++) {
                    float& to = sum[i * S + j < K ? i * S + j : 0][s];
                    to = __fmaf_rn(open[i][0], v[s], to);
                    if (V > 1 && both) to = __fmaf_rn(open[i][V - 1], v[(V - 1) * S + s], to);
                }
            }
        }
    }
}

// The sums of the parts, in their order.
__device__ __forceinline__ void add_parts(const Depthwise& p) {
    const u32 at = blockIdx.x * THREADS + threadIdx.x;
    if (at >= p.count) return;
    float sum = 0;
    for (u32 i = 0; i < p.share; i++) sum += p.parts[(u64)i * p.count + at];
    ((T*)p.out)[at] = narrow(sum, T());
}

extern "C" __global__ void __launch_bounds__(THREADS, V_LARGE ? 2 : 3) V_NAME(const __grid_constant__ Depthwise p) {
    extern __shared__ uint4 memory[];
    if (!p.x) return add_parts(p);
    const u32 groups = (p.planes + p.each - 1) / p.each, part = blockIdx.x / groups, plane = (blockIdx.x - part * groups) * p.each;
    const u32 planes = min(p.each, p.planes - plane), team = p.runs.size * p.across.size, items = planes * team;
    const u32 first = p.multiplier.divide(plane), last = p.multiplier.divide(plane + planes - 1), channels = p.planes / p.multiplier.size;
    float sum[LARGEST][LARGEST] = {};
    u8* bytes = (u8*)memory;
    const u32 end = min((part + 1) * p.share, p.units);
    u32 unit = part * p.share, stage = 0;
    const T *x, *g;
    auto lines_of = [&](u32 unit, Lines& own) {
        const u32 image = p.strips.divide(unit), from = (unit - image * p.strips.size) * p.lines;
        own = {image * p.planes + plane, planes, from, min(p.lines, p.out_h - from)};
        return seen(p, image * channels + first, image * channels + last, from, own.lines);
    };
    auto bring = [&](u32 unit) {
        Lines own;
        const Lines lines = lines_of(unit, own);
        T *to = (T*)(bytes + stage), *to_g = (T*)(bytes + stage + p.made);
        x = to + bring_ahead<THREADS>(to, p.x + lines.first(p.in_h, p.in_w), lines.count(p.in_w));
        g = to_g + bring_ahead<THREADS>(to_g, p.w + own.first(p.out_h, p.out_w), own.count(p.out_w));
        copies_end_stage();
    };
    bring(unit);
#pragma unroll 1
    for (; unit < end; unit++) {
        Lines own;
        const Lines lines = lines_of(unit, own);
        const T *now = x, *now_g = g;
        copies_wait<0>();
        // Nobody reads the other stage any more.
        __syncthreads();
        stage = p.stage - stage;
        if (unit + 1 < end) bring(unit + 1);
#pragma unroll 1
        for (u32 at = threadIdx.x; at < items; at += THREADS) {
            const Item item(p, at, own.lines);
            const T* of_plane = now + (p.multiplier.divide(plane + item.plane) - first) * lines.apart(p.in_w);
            const T* of_result = now_g + item.plane * own.apart(p.out_w);
#if V_LARGE
            walk<7, 1>(p, item, of_plane, of_result, lines, own.low, sum);
#else
            if (p.step == 1 && p.side == 3) walk<3, 1>(p, item, of_plane, of_result, lines, own.low, sum);
            else if (p.step == 1) walk<5, 1>(p, item, of_plane, of_result, lines, own.low, sum);
            else if (p.side == 3) walk<3, 2>(p, item, of_plane, of_result, lines, own.low, sum);
            else walk<5, 2>(p, item, of_plane, of_result, lines, own.low, sum);
#endif
        }
    }
    // Some threads add up what those of a plane found for an element, which have it side by side.
    float* found = (float*)memory;
    const u32 lane = threadIdx.x % p.lanes, count = min(team, THREADS), wanted = planes * p.side, at_once = THREADS / p.lanes;
#pragma unroll 1
    for (u32 r = 0; r < p.side; r++) {
        __syncthreads();
#pragma unroll
        for (u32 i = 0; i < LARGEST; i++)
            if (i == r)
#pragma unroll
                for (int s = 0; s < LARGEST; s++) found[s * THREADS + threadIdx.x] = sum[i][s];
        __syncthreads();
#pragma unroll 1
        for (u32 begin = 0; begin < wanted; begin += at_once) {
            const u32 at = begin + threadIdx.x / p.lanes, of = at / p.side, s = at - of * p.side;
            float total = 0;
            if (at < wanted)
                for (u32 i = lane; i < count; i += p.lanes) total += found[s * THREADS + of * count + i];
            for (u32 i = p.lanes / 2; i > 0; i /= 2) total += __shfl_xor_sync(~0u, total, i);
            if (at >= wanted || lane > 0) continue;
            const u32 to = ((plane + of) * p.side + r) * p.side + s;
            if (p.parts)
                p.parts[(u64)part * p.count + to] = total;
            else
                ((T*)p.out)[to] = narrow(total, T());
        }
    }
}
#endif
