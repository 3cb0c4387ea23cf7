// Attention and its gradient by blocks: of the weights no more than a tile is ever there, in shared memory.
//
// V_FORWARD: means of values by the softmax of scores, and the logarithms of its sums; online over blocks of keys. V_MEANS: for each query the
// product of the means and what flows back to them. V_DQ and V_DKV: the gradients, from scores that are computed again. A block has V_B
// queries (or keys); a thread has 4 by 4 of each product. Columns of the results are divided among blocks, CHUNKS times V_B each.
#include "attention.cuh"
#include "thin.cuh"

using T = V_T;
#if V_DOUBLE
using W = double;
#else
using W = float;
#endif

__device__ __forceinline__ float widen(float x) { return x; }
__device__ __forceinline__ double widen(double x) { return x; }
__device__ __forceinline__ float widen(f16 x) { return to_f32(x); }
__device__ __forceinline__ float widen(bf16 x) { return to_f32(x); }
__device__ __forceinline__ float narrow(float x, float) { return x; }
__device__ __forceinline__ double narrow(double x, double) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

constexpr int B = V_B, ACROSS = B / 4, THREADS = ACROSS * ACROSS, STEP = 16, CHUNKS = 2, PAD = 4;
constexpr int STAGE = B * B > 2 * STEP * (B + PAD) ? B * B : 2 * STEP * (B + PAD);

using Arguments = Attention<T, W>;

struct Shared {
    W tile[B][B + 1];
    W stage[STAGE];
};

__device__ __forceinline__ W least() {
#if V_DOUBLE
    return -__longlong_as_double(0x7ff0000000000000ll);
#else
    return -__int_as_float(0x7f800000);
#endif
}

// A thread's 4 by 4 of `a · bᵀ`, both with rows of `n` elements, so far apart as their steps say.
__device__ __forceinline__ void rows_by_rows(Shared& s, const T* a, u64 step_a, i32 rows_a, const T* b, u64 step_b, i32 rows_b, u32 n,
                                             W (&sum)[4][4]) {
    u32 tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    W(*left)[B + PAD] = (W(*)[B + PAD])s.stage;
    W(*right)[B + PAD] = left + STEP;
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) sum[i][j] = 0;
    for (u32 from = 0; from < n; from += STEP) {
        for (u32 at = threadIdx.x; at < B * STEP; at += THREADS) {
            u32 row = at / STEP, e = at % STEP;
            bool inside = from + e < n;
            left[e][row] = inside && (i32)row < rows_a ? widen(a[row * step_a + from + e]) : (W)0;
            right[e][row] = inside && (i32)row < rows_b ? widen(b[row * step_b + from + e]) : (W)0;
        }
        __syncthreads();
#pragma unroll
        for (int e = 0; e < STEP; e++) {
            W x[4], y[4];
#pragma unroll
            for (int i = 0; i < 4; i++) x[i] = left[e][ty * 4 + i], y[i] = right[e][tx * 4 + i];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
        }
        __syncthreads();
    }
}

// Adds a thread's 4 by 4 of the tile (or the tile turned) times a matrix's columns from one on.
template <bool TURNED>
__device__ __forceinline__ void tile_by(Shared& s, const T* m, u64 step, i32 rows, u32 columns, u32 from, W (&sum)[4][4]) {
    u32 tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    for (u32 at = threadIdx.x; at < B * B; at += THREADS) {
        u32 row = at / B, column = from + at % B;
        s.stage[at] = (i32)row < rows && column < columns ? widen(m[row * step + column]) : (W)0;
    }
    __syncthreads();
#pragma unroll 8
    for (int k = 0; k < B; k++) {
        W x[4], y[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
            x[i] = TURNED ? s.tile[k][ty * 4 + i] : s.tile[ty * 4 + i][k];
            y[i] = s.stage[k * B + tx * 4 + i];
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) sum[i][j] += x[i] * y[j];
    }
    __syncthreads();
}

// A score as softmax takes it: scaled and masked; the least number where the one does not meet the other.
__device__ __forceinline__ W masked(const Arguments& p, u32 head, bool meet, u32 query, u32 key, W score) {
    if (!meet) return least();
    W x = score * (W)p.scale;
    if (p.mask_kind) {
        u64 at = head / p.heads * p.mask_batch + head % p.heads * p.mask_head + query * p.mask_row + key;
        // Added, as in PyTorch: a score that is no number stays none.
        if (p.mask_kind == 1) return x + (((const u8*)p.mask)[at] ? (W)0 : least());
        x += ((const W*)p.mask)[at];
    }
    return x;
}

// Which weights of a query stay, a bit for each: of four neighbouring keys from a multiple of 4 on.
__device__ __forceinline__ u32 staying(const Arguments& p, u32 head, u32 query, u32 key) {
    if (p.left_out == 0) return 15;
    u32 words[4], bits = 0;
    thin_block(words, key / 8, query, Seeds(p.seeds, head));
#pragma unroll
    for (int i = 0; i < 4; i++) bits |= (u32)((key % 8 < 4 ? words[i] & 0xffff : words[i] >> 16) >= p.left_out) << i;
    return bits;
}

__device__ __forceinline__ void write(T* to, u64 step, i32 rows, u32 columns, u32 from, const W (&sum)[4][4]) {
    u32 tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        i32 row = ty * 4 + i;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            u32 column = from + tx * 4 + j;
            if (row < rows && column < columns) to[row * step + column] = narrow(sum[i][j], T());
        }
    }
}

__device__ __forceinline__ void clear(W (&sum)[CHUNKS][4][4]) {
#pragma unroll
    for (int c = 0; c < CHUNKS; c++)
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < 4; j++) sum[c][i][j] = 0;
}

#if V_MEANS
// A warp for each query.
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Arguments p) {
    u64 row = (u64)blockIdx.x * 8 + threadIdx.x / 32;
    if (row >= p.rows) return;
    u32 head = (u32)(row / p.queries), query = (u32)(row % p.queries);
    const T *y = p.y + row_at(p.y_steps, p.heads, head, query), *g = p.g + row_at(p.g_steps, p.heads, head, query);
    W sum = 0;
    for (u32 i = threadIdx.x % 32; i < p.depth; i += 32) sum += widen(y[i]) * widen(g[i]);
#pragma unroll
    for (int by = 16; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
    if (threadIdx.x % 32 == 0) p.means_out[row] = sum;
}
#else
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Arguments p) {
    __shared__ Shared s;
    u32 tx = threadIdx.x % ACROSS, ty = threadIdx.x / ACROSS;
    u32 chunk = blockIdx.x % p.chunks, rest = blockIdx.x / p.chunks;
    u32 head = rest / p.blocks, begin = rest % p.blocks * B, column = chunk * CHUNKS * B;
#if V_DKV
    // Of keys and values: all queries that have this head.
    i32 rows = min((i32)(p.keys - begin), B);
    const T* k = p.k + row_at(p.k_steps, p.shared, head, begin);
    const T* v = p.v + row_at(p.v_steps, p.shared, head, begin);
    W dk[CHUNKS][4][4], dv[CHUNKS][4][4];
    clear(dk);
    clear(dv);
    u32 group = p.heads / p.shared, first = head / p.shared * p.heads + head % p.shared * group;
    Range met, by_each;
    met_by<true>(p, begin, B, met, by_each);
    for (u32 own = first; own < first + group; own++)
        for (u32 query = met.first<B>() * B; query < met.end; query += B) {
            i32 queries = min((i32)(p.queries - query), B);
            u64 at = (u64)own * p.queries + query;
            const T* q = p.q + row_at(p.q_steps, p.heads, own, query);
            const T* g = p.g + row_at(p.g_steps, p.heads, own, query);
            W score[4][4], back[4][4];
            rows_by_rows(s, q, p.q_steps[2], queries, k, p.k_steps[2], rows, p.width, score);
            rows_by_rows(s, g, p.g_steps[2], queries, v, p.v_steps[2], rows, p.depth, back);
            Range own_met[4];
#pragma unroll
            for (int j = 0; j < 4; j++) own_met[j] = met_by<true>(p, begin + tx * 4 + j);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 row = ty * 4 + i;
                bool there = (i32)row < queries;
                u32 stay = staying(p, own, query + row, begin + tx * 4);
                W sum = there ? p.sums[at + row] : (W)0, mean = there ? p.means[at + row] : (W)0;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    W weight = exp(masked(p, own, own_met[j].has(query + row), query + row, begin + tx * 4 + j, score[i][j]) - sum);
                    W times = stay >> j & 1 ? (W)p.times : (W)0;
                    s.tile[row][tx * 4 + j] = weight * times;
                    back[i][j] = weight * (back[i][j] * times - mean) * (W)p.scale;
                }
            }
            __syncthreads();
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                if (column + c * B < p.depth) tile_by<true>(s, g, p.g_steps[2], queries, p.depth, column + c * B, dv[c]);
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) s.tile[ty * 4 + i][tx * 4 + j] = back[i][j];
            __syncthreads();
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
                if (column + c * B < p.width) tile_by<true>(s, q, p.q_steps[2], queries, p.width, column + c * B, dk[c]);
        }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) {
        write(p.dk + row_at(p.dk_steps, p.shared, head, begin), p.dk_steps[2], rows, p.width, column + c * B, dk[c]);
        write(p.dv + row_at(p.dv_steps, p.shared, head, begin), p.dv_steps[2], rows, p.depth, column + c * B, dv[c]);
    }
#else
    i32 rows = min((i32)(p.queries - begin), B);
    u64 at = (u64)head * p.queries + begin;
    u32 of = shared_head(p, head);
    const T* q = p.q + row_at(p.q_steps, p.heads, head, begin);
    T* out = p.out + row_at(p.out_steps, p.heads, head, begin);
    W sum[CHUNKS][4][4];
    clear(sum);
    Range met, by_each;
    met_by<false>(p, begin, B, met, by_each);
#if V_FORWARD
    W top[4], total[4];
#pragma unroll
    for (int i = 0; i < 4; i++) top[i] = least(), total[i] = 0;
#else
    const T* g = p.g + row_at(p.g_steps, p.heads, head, begin);
    W top[4], mean[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        i32 row = ty * 4 + i;
        top[i] = row < rows ? p.sums[at + row] : (W)0;
        mean[i] = row < rows ? p.means[at + row] : (W)0;
    }
#endif
    for (u32 key = met.first<B>() * B; key < met.end; key += B) {
        i32 keys = min((i32)(p.keys - key), B);
        const T* k = p.k + row_at(p.k_steps, p.shared, of, key);
        const T* v = p.v + row_at(p.v_steps, p.shared, of, key);
        W score[4][4];
        rows_by_rows(s, q, p.q_steps[2], rows, k, p.k_steps[2], keys, p.width, score);
#if V_FORWARD
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 row = ty * 4 + i;
            Range own_met = met_by<false>(p, begin + row);
            W most = top[i];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                score[i][j] = masked(p, head, own_met.has(key + tx * 4 + j), begin + row, key + tx * 4 + j, score[i][j]);
                most = score[i][j] > most ? score[i][j] : most;
            }
#pragma unroll
            for (int by = ACROSS / 2; by > 0; by /= 2) {
                W other = __shfl_xor_sync(0xffffffffu, most, by);
                most = other > most ? other : most;
            }
            // Where nothing was taken yet there is nothing to subtract.
            W shift = most > least() ? most : (W)0, fade = exp(top[i] - shift), part = 0;
            u32 stay = staying(p, head, begin + row, key + tx * 4);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                W weight = exp(score[i][j] - shift);
                part += weight;
                s.tile[row][tx * 4 + j] = stay >> j & 1 ? weight : (W)0;
            }
#pragma unroll
            for (int by = ACROSS / 2; by > 0; by /= 2) part += __shfl_xor_sync(0xffffffffu, part, by);
            total[i] = total[i] * fade + part;
            top[i] = most;
#pragma unroll
            for (int c = 0; c < CHUNKS; c++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[c][i][j] *= fade;
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            if (column + c * B < p.depth) tile_by<false>(s, v, p.v_steps[2], keys, p.depth, column + c * B, sum[c]);
#else
        W back[4][4];
        rows_by_rows(s, g, p.g_steps[2], rows, v, p.v_steps[2], keys, p.depth, back);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            u32 row = ty * 4 + i, stay = staying(p, head, begin + row, key + tx * 4);
            Range own_met = met_by<false>(p, begin + row);
#pragma unroll
            for (int j = 0; j < 4; j++) {
                W weight = exp(masked(p, head, own_met.has(key + tx * 4 + j), begin + row, key + tx * 4 + j, score[i][j]) - top[i]);
                W times = stay >> j & 1 ? (W)p.times : (W)0;
                s.tile[row][tx * 4 + j] = weight * (back[i][j] * times - mean[i]) * (W)p.scale;
            }
        }
        __syncthreads();
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
            if (column + c * B < p.width) tile_by<false>(s, k, p.k_steps[2], keys, p.width, column + c * B, sum[c]);
#endif
    }
#if V_FORWARD
#pragma unroll
    for (int i = 0; i < 4; i++) {
        i32 row = ty * 4 + i;
        bool nothing = total[i] == 0;
        W share = nothing ? (W)0 : (W)p.times / total[i];
        if (chunk == 0 && tx == 0 && row < rows) p.sums_out[at + row] = nothing ? -least() : top[i] + log(total[i]);
#pragma unroll
        for (int c = 0; c < CHUNKS; c++)
#pragma unroll
            for (int j = 0; j < 4; j++) sum[c][i][j] *= share;
    }
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) write(out, p.out_steps[2], rows, p.depth, column + c * B, sum[c]);
#else
#pragma unroll
    for (int c = 0; c < CHUNKS; c++) write(out, p.out_steps[2], rows, p.width, column + c * B, sum[c]);
#endif
#endif
}
#endif
