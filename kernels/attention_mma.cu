// Attention and its gradient on the tensor cores of 8.0 and later, for f16, bf16, and f32 rounded to tf32 (Dao, "FlashAttention-2", 2023).
//
// A block owns some rows of a head, sixteen (or twice as many) a warp, and walks over rows of others, which come in stages. V_FORWARD and
// V_DQ own queries and walk over keys; V_DKV owns keys and walks over the queries of all heads that share them. Scores and what
// flows back to them stay in registers, where they lie as the products that follow take them: no thread adds to what
// another one adds to, and all is added in one order.
#include "attention_mma.cuh"

constexpr bool FORWARD = V_FORWARD;
constexpr int OWN = ROWS * WARPS;  // rows of a block
constexpr u32 TILE = WALK * PITCH, OWNED = OWN * PITCH, STATS = TURNED ? 2 * WALK * 4 : 0;
constexpr u32 STAGE = 2 * TILE + STATS, RING = FORWARD ? OWNED : 2 * OWNED;

// Writes a warp's rows, times `by`, through the shared memory of its own ones, which are no longer needed.
__device__ __forceinline__ void store(const float (&sum)[MT][COLUMNS / 8][4], const float (&by)[MT][2], u32 tile, T* to, u64 step, i32 rows, u32 columns,
                                      u32 first, bool aligned) {
    u32 lane = threadIdx.x % 32, row0 = threadIdx.x / 32 * ROWS;
    __syncwarp();
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 row = row0 + m * 16 + h * 8 + lane / 4;
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++) {
                float low = sum[m][j][2 * h] * by[m][h], high = sum[m][j][2 * h + 1] * by[m][h];
                if (HALF) {
                    put4(tile + place(row, j) + lane % 4 * 4, pair(T(), low, high));
                } else {
                    put8(tile + place(row, 2 * j + lane % 4 / 2) + lane % 2 * 8, low, high);
                }
            }
        }
    __syncwarp();
    if (aligned) {
#pragma unroll 2
        for (u32 i = lane; i < ROWS * (COLUMNS / CHUNK); i += 32) {
            u32 row = row0 + i / (COLUMNS / CHUNK), c = i % (COLUMNS / CHUNK), column = first + c * CHUNK;
            if ((i32)row < rows && column < columns) *(float4*)(to + row * step + column) = read16(tile + place(row, c));
        }
    } else {
#pragma unroll 1
        for (u32 i = lane; i < ROWS * COLUMNS; i += 32) {
            u32 row = row0 + i / COLUMNS, c = i % COLUMNS, column = first + c;
            u32 from = tile + place(row, c / CHUNK) + c % CHUNK * sizeof(T);
            if ((i32)row >= rows || column >= columns) continue;
            if (HALF) {
                *(u16*)(to + row * step + column) = read2(from);
            } else {
                *(u32*)(to + row * step + column) = word(from);
            }
        }
    }
}

#if V_DQ
__device__ __forceinline__ float product(u32 a, u32 b, tf32) { return __uint_as_float(a) * __uint_as_float(b); }
template <typename H>
__device__ __forceinline__ float product(u32 a, u32 b, H) {
    return to_f32(H{(u16)a}) * to_f32(H{(u16)b}) + to_f32(H{(u16)(a >> 16)}) * to_f32(H{(u16)(b >> 16)});
}

// Of each of the block's rows the product of the means and what flows back to them: to shared memory, and for who comes after.
__device__ __forceinline__ void means(const Arguments& p, u32 head, u32 begin, i32 rows, u32 to) {
    const T *y = p.y + row_at(p.y_steps, p.heads, head, begin), *g = p.g + row_at(p.g_steps, p.heads, head, begin);
    u32 part = threadIdx.x % 8;
#pragma unroll 1
    for (u32 row = threadIdx.x / 8; row < OWN; row += THREADS / 8) {
        float sum = 0;
        const T *mean = y + row * p.y_steps[2], *flow = g + row * p.g_steps[2];
        if ((i32)row < rows) {
            if (p.flags & FLOWS_ALIGNED) {
#pragma unroll 2
                for (u32 i = part * CHUNK; i < p.depth; i += 8 * CHUNK) {
                    uint4 a = *(const uint4*)(mean + i), b = *(const uint4*)(flow + i);
                    sum += product(a.x, b.x, T()) + product(a.y, b.y, T()) + (product(a.z, b.z, T()) + product(a.w, b.w, T()));
                }
            } else {
#pragma unroll 1
                for (u32 i = part; i < p.depth; i += 8) sum += to_f32(mean[i]) * to_f32(flow[i]);
            }
        }
#pragma unroll
        for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
        if (part == 0) {
            put4(to + row * 4, __float_as_uint(sum));
            if ((i32)row < rows) p.means_out[(u64)head * p.queries + begin + row] = sum;
        }
    }
}
#endif

#if !V_FORWARD
// The logarithm of a sum, for powers of two. Where all that was added is a number that stands for nothing at all, the weights are lost in
// its rounding: nothing flows back.
__device__ __forceinline__ float power(float log) { return log < -1e6f ? infinity() : log * LOG2_E; }
#endif

extern "C" __global__ void __launch_bounds__(THREADS, V_BLOCKS) V_NAME(const __grid_constant__ Arguments p) {
    extern __shared__ __align__(128) char memory[];
    u32 base = shared_address(memory), ring = base + RING;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    AttentionPlace where(p);
    u32 head = where.head;
    // Queries with many keys are begun first; keys with many queries are the first ones.
    u32 begin = (!TURNED && p.last_first ? p.blocks - 1 - where.block : where.block) * OWN;
    Scale scale(p);
    // Places of a lane in a tile: for fragments of a, of b turned, and of b as it lies.
    u32 lane_a = place(lane % 16, lane / 16), lane_t = HALF ? lane_a : place(lane % 4 * 2, lane / 16) + lane / 4 % 4 * 4;
    u32 lane_b = place(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    u32 own_at = base + warp * ROWS * PITCH + lane_a;
    u32 row = begin + warp * ROWS + lane / 4;
    Range met, by_each;

#if V_DKV
    u32 column = where.chunk * COLUMNS;
    i32 rows = min((i32)(p.keys - begin), OWN);
    bring<OWN>(base, p.k + row_at(p.k_steps, p.shared, head, begin), p.k_steps[2], rows, p.width, p.flags & KEYS_ALIGNED);
    bring<OWN>(base + OWNED, p.v + row_at(p.v_steps, p.shared, head, begin), p.v_steps[2], rows, p.depth, p.flags & VALUES_ALIGNED);
    u32 group = p.heads / p.shared, of = head / p.shared * p.heads + head % p.shared * group;
    met_by<true>(p, begin, OWN, met, by_each);
    u32 from = met.first<WALK>() * WALK, count = (met.last<WALK>() - met.first<WALK>()) * group;
    // The queries that come next, and those that are there.
    u32 next_head = of, next = from, asks = of, walk = from;
    auto fetch = [&](u32 to) {
        u64 at = (u64)next_head * p.queries + next;
        i32 rows = (i32)(p.queries - next);
        bring<WALK>(to, p.q + row_at(p.q_steps, p.heads, next_head, next), p.q_steps[2], rows, p.width, p.flags & QUERIES_ALIGNED);
        bring<WALK>(to + TILE, p.g + row_at(p.g_steps, p.heads, next_head, next), p.g_steps[2], rows, p.depth, p.flags & FLOWS_ALIGNED);
        for (u32 i = threadIdx.x; i < 2 * WALK; i += THREADS) {
            const float* stats = i < WALK ? p.sums : p.means;
            bool there = (i32)(i % WALK) < rows;
            copy4(to + 2 * TILE + i * 4, there ? stats + at + i % WALK : stats, there ? 4 : 0);
        }
        next += WALK;
        if (next >= met.end) next = from, next_head++;
    };
#else
    i32 rows = min((i32)(p.queries - begin), OWN);
    u64 at = (u64)head * p.queries + begin;
    bring<OWN>(base, p.q + row_at(p.q_steps, p.heads, head, begin), p.q_steps[2], rows, p.width, p.flags & QUERIES_ALIGNED);
    u32 of = shared_head(p, head);
    met_by<false>(p, begin, OWN, met, by_each);
    u32 walk = met.first<WALK>() * WALK, count = met.last<WALK>() - met.first<WALK>(), asks = head;
    const T *k = p.k + row_at(p.k_steps, p.shared, of, walk), *v = p.v + row_at(p.v_steps, p.shared, of, walk);
    i32 left = (i32)(p.keys - walk);
    auto fetch = [&](u32 to) {
        bring<WALK>(to, k, p.k_steps[2], left, p.width, p.flags & KEYS_ALIGNED);
        bring<WALK>(to + TILE, v, p.v_steps[2], left, p.depth, p.flags & VALUES_ALIGNED);
        k += WALK * p.k_steps[2];
        v += WALK * p.v_steps[2];
        left -= WALK;
    };
#if V_DQ
    bring<OWN>(base + OWNED, p.g + row_at(p.g_steps, p.heads, head, begin), p.g_steps[2], rows, p.depth, p.flags & FLOWS_ALIGNED);
    u32 stats = ring + STAGES * STAGE;
    means(p, head, begin, rows, stats);
#endif
#endif
#pragma unroll
    for (u32 t = 0; t < STAGES - 1; t++) {
        if (t < count) fetch(ring + t * STAGE);
        copies_end_stage();
    }

    float sum[MT][COLUMNS / 8][4] = {};
#if V_DKV
    float more[MT][COLUMNS / 8][4] = {};
#endif
    u32 own[HELD ? STEPS : 1][MT][4], other[HELD && !FORWARD ? STEPS : 1][MT][4];
    if (HELD) {
        copies_wait<STAGES - 2>();
        __syncthreads();
#pragma unroll
        for (int i = 0; i < STEPS; i++)
#pragma unroll
            for (int m = 0; m < MT; m++) {
                ldmatrix(own[HELD ? i : 0][m], at_step(own_at, i) + m * 16 * PITCH);
                settle(own[HELD ? i : 0][m]);
                if (FORWARD) continue;
                ldmatrix(other[HELD && !FORWARD ? i : 0][m], at_step(own_at + OWNED, i) + m * 16 * PITCH);
                settle(other[HELD && !FORWARD ? i : 0][m]);
            }
    }
#if V_FORWARD
    Softmax softmax;
#elif V_DQ
    // Of a lane's rows, eight apart: the logarithm of the sum, and the product of the mean and what flows back to it.
    float log[MT][2], flow[MT][2];
    __syncthreads();
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 r = warp * ROWS + m * 16 + h * 8 + lane / 4;
            log[m][h] = (i32)r < rows ? power(p.sums[at + r]) : 0;
            flow[m][h] = __uint_as_float(word(stats + r * 4));
        }
#endif

    u32 reading = ring, writing = ring + (STAGES - 1) * STAGE;
#pragma unroll 1
    for (u32 t = 0; t < count; t++) {
        copies_wait<STAGES - 2>();
        __syncthreads();
        if (t + STAGES - 1 < count) fetch(writing);
        copies_end_stage();
        u32 straight = reading + lane_b, turned = reading + lane_t;
        float s[MT][NT][4];
        multiply(s, own, own_at, straight);
        // Keys beyond the last one have no place in the result.
        bool edge = walk < by_each.begin || walk + WALK > by_each.end;
        if (edge || p.mask_kind || scale.after == 1)
#pragma unroll
            for (int m = 0; m < MT; m++)
                mask(p, {asks, asks}, {row + m * 16, row + m * 16 + 8}, walk + lane % 4 * 2, edge, scale, s[m]);
#if V_FORWARD
        softmax.follow(s, sum, scale.after);
        add(sum, s, turned + TILE);
#else
        float back[MT][NT][4];
        multiply(back, other, own_at + OWNED, straight + TILE);
#pragma unroll
        for (int j = 0; j < NT; j++) {
#if V_DKV
            u32 stats = reading + 2 * TILE + (j * 8 + lane % 4 * 2) * 4;
            float2 logs = read8(stats), flows = read8(stats + WALK * 4);
            logs.x = power(logs.x), logs.y = power(logs.y);
#endif
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
#if V_DKV
                    float less = e % 2 ? logs.y : logs.x, mean = e % 2 ? flows.y : flows.x;
#else
                    float less = log[m][e / 2], mean = flow[m][e / 2];
#endif
                    s[m][j][e] = power_of_two(s[m][j][e] * scale.after - less);
                    back[m][j][e] = s[m][j][e] * (back[m][j][e] - mean);
                }
        }
#if V_DKV
        // Both tiles' columns from this block's first on, which begins a period of the exchange of chunks.
        add(more, s, turned + TILE + column * (u32)sizeof(T));
        add(sum, back, turned + column * (u32)sizeof(T));
#else
        add(sum, back, turned);
#endif
#endif
        walk += WALK;
#if V_DKV
        if (walk >= met.end) walk = from, asks++;
#endif
        reading = reading == ring + (STAGES - 1) * STAGE ? ring : reading + STAGE;
        writing = writing == ring + (STAGES - 1) * STAGE ? ring : writing + STAGE;
    }
    copies_wait<0>();
    __syncthreads();

    float by[MT][2];
#if V_FORWARD
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float all = softmax.all(m, h);
            bool nothing = all == 0;
            by[m][h] = nothing ? 0 : 1 / all;
            u32 r = warp * ROWS + m * 16 + h * 8 + lane / 4;
            if (lane % 4 == 0 && (i32)r < rows) p.sums_out[at + r] = nothing ? infinity() : softmax.top[m][h] * scale.after * LN_2 + logf(all);
        }
    store(sum, by, base, p.out + row_at(p.out_steps, p.heads, head, begin), p.out_steps[2], rows, p.depth, 0, p.flags & RESULTS_ALIGNED);
#else
#pragma unroll
    for (int m = 0; m < MT; m++) by[m][0] = by[m][1] = (float)p.scale;
#if V_DQ
    store(sum, by, base, p.out + row_at(p.out_steps, p.heads, head, begin), p.out_steps[2], rows, p.width, 0, p.flags & RESULTS_ALIGNED);
#else
    store(sum, by, base, p.dk + row_at(p.dk_steps, p.shared, head, begin), p.dk_steps[2], rows, p.width, column, p.flags & RESULTS_ALIGNED);
#pragma unroll
    for (int m = 0; m < MT; m++) by[m][0] = by[m][1] = 1;
    store(more, by, base + OWNED, p.dv + row_at(p.dv_steps, p.shared, head, begin), p.dv_steps[2], rows, p.depth, column, p.flags & RESULTS_ALIGNED);
#endif
#endif
}
