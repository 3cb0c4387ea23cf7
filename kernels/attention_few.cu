// Attention of few queries to many keys, on the tensor cores of 8.0 and later: what a key-value cache is asked for each new word.
//
// A block has sixteen rows, the queries of all heads that share keys, and a part of the keys; its warps take turns in these. What the blocks
// of a head have come to is joined by the last of them, always in the same order.
#include "attention_mma.cuh"

constexpr int TAKEN = WALK * WARPS;  // keys of a stage
constexpr u32 TILE = TAKEN * PITCH, STAGE = 2 * TILE, OWNED = 16 * PITCH;
static_assert(MT == 1 && HELD && COLUMNS == D, "");

// Weights of parts whose largest scores are `tops`, as the largest of all has them.
__device__ __forceinline__ float share(float top, float most, float after) {
    return most > -infinity() ? power_of_two((top - most) * after) : 0;
}

__device__ __forceinline__ float4 with(float4 sum, float4 x, float by) {
    return make_float4(fmaf(x.x, by, sum.x), fmaf(x.y, by, sum.y), fmaf(x.z, by, sum.z), fmaf(x.w, by, sum.w));
}

// A result that is computed, of so many-th a query from a head on.
__device__ __forceinline__ void put(const Arguments& p, u32 head, u32 query, u32 column, float x) {
    u64 at = row_at(p.out_steps, p.heads, head + query / p.queries, query % p.queries) + column;
    if (HALF) {
        ((u16*)p.out)[at] = (u16)pair(T(), x, x);
    } else {
        ((float*)p.out)[at] = x;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, V_BLOCKS) V_NAME(const __grid_constant__ Arguments p) {
    extern __shared__ __align__(128) char memory[];
    u32 base = shared_address(memory), ring = base + OWNED;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // `chunks` blocks share a head of keys, and `blocks` rows of queries.
    u32 part = blockIdx.x % p.chunks, rest = blockIdx.x / p.chunks, head = rest / p.blocks;
    u32 group = p.heads / p.shared, of = head / p.shared * p.heads + head % p.shared * group, all = group * p.queries;
    u32 begin = rest % p.blocks * 16, rows = min(all - begin, 16u);
    u64 at = (u64)of * p.queries + begin;
    Scale scale(p);
    // What any of the queries takes.
    Range met, by_each;
    met_by<false>(p, 0, p.queries, met, by_each);
    u32 begins = met.first<TAKEN>(), count = met.last<TAKEN>() - begins;
    u32 first = begins + (u32)((u64)count * part / p.chunks), last = begins + (u32)((u64)count * (part + 1) / p.chunks);

    const T *k = p.k + row_at(p.k_steps, p.shared, head, 0), *v = p.v + row_at(p.v_steps, p.shared, head, 0);
    auto fetch = [&](u32 t, u32 to) {
        i32 there = (i32)(p.keys - t * TAKEN);
        bring<TAKEN>(to, k + t * TAKEN * p.k_steps[2], p.k_steps[2], there, p.width, p.flags & KEYS_ALIGNED);
        bring<TAKEN>(to + TILE, v + t * TAKEN * p.v_steps[2], p.v_steps[2], there, p.depth, p.flags & VALUES_ALIGNED);
    };
#pragma unroll
    for (u32 t = 0; t < STAGES - 1; t++) {
        if (first + t < last) fetch(first + t, ring + t * STAGE);
        copies_end_stage();
    }
    // Each row by itself: its neighbours may be of other heads.
#pragma unroll 1
    for (u32 r = 0; r < rows; r++) {
        u32 asks = of + (begin + r) / p.queries;
        const T* q = p.q + row_at(p.q_steps, p.heads, asks, (begin + r) % p.queries);
#pragma unroll 1
        for (u32 i = threadIdx.x; i < D; i += THREADS) {
            u32 to = base + place(r, i / CHUNK) + i % CHUNK * sizeof(T);
            if (HALF) {
                put2(to, i < p.width ? *(const u16*)(q + i) : (u16)0);
            } else {
                put4(to, i < p.width ? *(const u32*)(q + i) : 0);
            }
        }
    }
#pragma unroll 1
    for (u32 i = rows * PITCH / 4 + threadIdx.x; i < OWNED / 4; i += THREADS) put4(base + i * 4, 0);
    __syncthreads();
    u32 own[STEPS][MT][4];
    u32 lane_a = place(lane % 16, lane / 16), lane_t = HALF ? lane_a : place(lane % 4 * 2, lane / 16) + lane / 4 % 4 * 4;
    u32 lane_b = place(lane % 8 + lane / 16 * 8, lane / 8 % 2), mine = warp * WALK * PITCH;
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        ldmatrix(own[i][0], at_step(base + lane_a, i));
        settle(own[i][0]);
    }
    float sum[MT][COLUMNS / 8][4] = {};
    Softmax softmax;
    u32 asks[2], query[2];
#pragma unroll
    for (int h = 0; h < 2; h++) {
        u32 r = min(begin + h * 8 + lane / 4, all - 1);
        asks[h] = of + r / p.queries;
        query[h] = r % p.queries;
    }

    u32 reading = ring, writing = ring + (STAGES - 1) * STAGE;
#pragma unroll 1
    for (u32 t = first; t < last; t++) {
        copies_wait<STAGES - 2>();
        __syncthreads();
        if (t + STAGES - 1 < last) fetch(t + STAGES - 1, writing);
        copies_end_stage();
        float s[MT][NT][4];
        multiply(s, own, 0, reading + mine + lane_b);
        u32 walk = t * TAKEN + warp * WALK;
        bool edge = walk < by_each.begin || walk + WALK > by_each.end;
        if (edge || p.mask_kind || scale.after == 1) mask(p, asks, query, walk + lane % 4 * 2, edge, scale, s[0]);
        softmax.follow(s, sum, scale.after);
        add(sum, s, reading + TILE + mine + lane_t);
        reading = reading == ring + (STAGES - 1) * STAGE ? ring : reading + STAGE;
        writing = writing == ring + (STAGES - 1) * STAGE ? ring : writing + STAGE;
    }
    copies_wait<0>();
    __syncthreads();

    // What the warps have come to: sums, and for each row the largest score and the sum of the weights.
    constexpr u32 LINE = D + 4, WARP = 16 * LINE;
    float *sums = (float*)memory, *states = sums + WARPS * WARP;
#pragma unroll
    for (int h = 0; h < 2; h++) {
        u32 r = h * 8 + lane / 4;
        float total = softmax.all(0, h);
        if (lane % 4 == 0) states[(warp * 16 + r) * 2] = softmax.top[0][h], states[(warp * 16 + r) * 2 + 1] = total;
#pragma unroll
        for (int j = 0; j < D / 8; j++) {
            float* to = sums + warp * WARP + r * LINE + j * 8 + lane % 4 * 2;
            to[0] = sum[0][j][2 * h], to[1] = sum[0][j][2 * h + 1];
        }
    }
    __syncthreads();
    auto means = [&](u32 r, u32 column, float4 x, float total) {
        float by = total == 0 ? 0 : 1 / total, each[4] = {x.x, x.y, x.z, x.w};
#pragma unroll
        for (u32 j = 0; j < 4; j++)
            if (column + j < p.depth) put(p, of, begin + r, column + j, each[j] * by);
    };
    auto logarithm = [&](u32 r, float most, float total) {
        p.sums_out[at + r] = total == 0 ? infinity() : most * scale.after * LN_2 + logf(total);
    };
    // Of parts there are sums for each row, by fours, and after those of all rows their states.
    constexpr u32 FOURS = D / 4;
    const u32 pitch = (p.depth + 3) / 4 * 4;
    const u64 step = p.rows * pitch;
    float* parts = p.parts;
    float2* states_of = (float2*)(parts + p.chunks * step);
#pragma unroll 1
    for (u32 i = threadIdx.x; i < rows * FOURS; i += THREADS) {
        u32 r = i / FOURS, column = i % FOURS * 4;
        float most = -infinity(), total = 0;
        float4 x = {};
#pragma unroll
        for (int w = 0; w < WARPS; w++) most = fmaxf(most, states[(w * 16 + r) * 2]);
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            float by = share(states[(w * 16 + r) * 2], most, scale.after);
            total += states[(w * 16 + r) * 2 + 1] * by;
            x = with(x, *(const float4*)(sums + w * WARP + r * LINE + column), by);
        }
        if (p.chunks > 1) {
            if (column < pitch) __stcg((float4*)(parts + part * step + (at + r) * pitch + column), x);
            if (column == 0) __stcg(states_of + part * p.rows + at + r, make_float2(most, total));
        } else {
            means(r, column, x, total);
            if (column == 0) logarithm(r, most, total);
        }
    }
    if (p.chunks == 1) return;
    __threadfence();
    __syncthreads();
    u32* ticket = (u32*)memory;
    if (threadIdx.x == 0) *ticket = atomicInc(p.tickets + rest, p.chunks - 1);
    __syncthreads();
    if (*ticket != p.chunks - 1) return;
    __threadfence();
    // Of each row, by a warp, the parts' shares of its sums. All of this waits for the second cache, and for instructions that run once: few of these, and much
    // at a time.
    float *shares = (float*)memory + 4, *totals = shares + p.chunks * 16;
#pragma unroll 1
    for (u32 r = warp; r < rows; r += WARPS) {
        float most = -infinity(), total = 0;
#pragma unroll 2
        for (u32 c = lane; c < p.chunks; c += 32) {
            float2 state = __ldcg(states_of + c * p.rows + at + r);
            float top = fmaxf(most, state.x);
            total = total * share(most, top, scale.after) + state.y * share(state.x, top, scale.after);
            most = top;
            shares[c * 16 + r] = state.x;
        }
        float own = most;
#pragma unroll
        for (u32 i = 1; i < 32; i *= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, i));
        total *= share(own, most, scale.after);
#pragma unroll
        for (u32 i = 1; i < 32; i *= 2) total += __shfl_xor_sync(~0u, total, i);
#pragma unroll 1
        for (u32 c = lane; c < p.chunks; c += 32) shares[c * 16 + r] = share(shares[c * 16 + r], most, scale.after);
        if (lane == 0) {
            totals[r] = total;
            logarithm(r, most, total);
        }
    }
    __syncthreads();
#pragma unroll 1
    for (u32 i = threadIdx.x; i < rows * FOURS; i += THREADS) {
        u32 r = i / FOURS, column = i % FOURS * 4;
        if (column >= p.depth) continue;
        const float* from = parts + (at + r) * pitch + column;
        float4 x = {};
#pragma unroll 8
        for (u32 c = 0; c < p.chunks; c++) x = with(x, __ldcg((const float4*)(from + c * step)), shares[c * 16 + r]);
        means(r, column, x, totals[r]);
    }
}
