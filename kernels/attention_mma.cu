// Attention and its gradient on the tensor cores of 8.0 and later, for f16, bf16, and f32 rounded to tf32 (Dao, "FlashAttention-2", 2023).
//
// A block owns some rows of a head, sixteen (or twice as many) a warp, and walks over rows of others, which come in stages. V_FORWARD and
// V_DQ own queries and walk over keys; V_DKV owns keys and walks over the queries of all heads that share them. Scores and what
// flows back to them stay in registers, where they lie as the products that follow take them: no thread adds to what
// another one adds to, and all is added in one order.
//
// Rows in shared memory are V_D elements long, zeros after the operand's own. Chunks of 16 bytes are exchanged by an exclusive or with the row's
// number, so that eight rows that are read together lie in different banks.
#include "attention.cuh"
#include "mma.cuh"

using T = V_T;
using Arguments = Attention<T, float>;
constexpr bool HALF = Is16<T>::value;

constexpr int D = V_D, WARPS = V_WARPS, MT = V_MT, WALK = V_WALK, STAGES = V_STAGES;
constexpr int THREADS = 32 * WARPS, ROWS = 16 * MT, OWN = ROWS * WARPS;  // rows of a warp and of a block
// Sums of eight columns; steps of two chunks along a row, each a product's depth.
constexpr int CHUNK = 16 / sizeof(T), NT = WALK / 8, STEPS = D / (2 * CHUNK);
constexpr u32 PITCH = D * sizeof(T), CHUNKS = D / CHUNK, TURN = PITCH % 128 == 0 ? 8 : 4;
constexpr u32 TILE = WALK * PITCH, OWNED = OWN * PITCH;
constexpr float LOG2_E = 1.4426950408889634f;
#if V_FORWARD
constexpr bool FORWARD = true, TURNED = false;
#elif V_DQ
constexpr bool FORWARD = false, TURNED = false;
#else
constexpr bool FORWARD = false, TURNED = true;
#endif
constexpr bool HELD = V_HELD;    // whether a warp's own rows stay in registers
constexpr int COLUMNS = V_COLUMNS;  // of the result that a block has
constexpr u32 STATS = TURNED ? 2 * WALK * 4 : 0;
constexpr u32 STAGE = 2 * TILE + STATS, RING = FORWARD ? OWNED : 2 * OWNED;
static_assert(HALF || TURN == 8, "neighbouring rows are exchanged by neighbours");
static_assert(NT % 2 == 0 && NT <= 8, "fragments of b are read by twos, and what is taken is told by the bits of a word");
static_assert(D % COLUMNS == 0 && (COLUMNS == D || COLUMNS % 64 == 0), "chunks are exchanged within the columns of a block");

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

// The byte at which chunk `c` of a row lies.
__device__ __forceinline__ u32 place(u32 row, u32 c) { return row * PITCH + (c ^ (TURN == 8 ? row & 7 : row >> 1 & 3)) * 16; }
// From the address of a lane's row and first chunk, that of step `i` of two chunks.
__device__ __forceinline__ u32 at_step(u32 lane_at, int i) {
    constexpr int PERIOD = TURN / 2;
    return (lane_at ^ i % PERIOD * 32) + i / PERIOD * (TURN * 16);
}

// Brings `COUNT` rows of `columns` elements, `step` apart, of which `rows` are there.
template <int COUNT>
__device__ __forceinline__ void bring(u32 to, const T* from, u64 step, i32 rows, u32 columns, bool aligned) {
    if (aligned) {
        constexpr int STEP = THREADS / TURN, COPIES = (COUNT + STEP - 1) / STEP;
        static_assert(STEP % 8 == 0, "a thread's rows are exchanged alike");
        u32 row = threadIdx.x / TURN, c = threadIdx.x % TURN;
        const T* p = from + row * step + c * CHUNK;
        to += place(row, c);
#pragma unroll
        for (int i = 0; i < COPIES; i++) {
            bool there = (i32)(row + i * STEP) < rows;
            if (COUNT % STEP == 0 || row + i * STEP < COUNT)
#pragma unroll
                for (int j = 0; j < CHUNKS / TURN; j++) {
                    bool inside = there && (c + j * TURN) * CHUNK < columns;
                    copy16(to + i * (STEP * PITCH) + j * (TURN * 16), inside ? p + j * TURN * CHUNK : from, inside ? 16 : 0);
                }
            p += STEP * step;
        }
    } else {
#pragma unroll 1
        for (u32 i = threadIdx.x; i < COUNT * D; i += THREADS) {
            u32 row = i / D, column = i % D;
            bool inside = (i32)row < rows && column < columns;
            const T* p = inside ? from + row * step + column : from;
            u32 at = to + place(row, column / CHUNK) + column % CHUNK * sizeof(T);
            if (HALF) {
                put2(at, inside ? *(const u16*)p : (u16)0);
            } else {
                copy4(at, p, inside ? 4 : 0);
            }
        }
    }
}

// How scores become powers of two: times `before`, which is 1 unless something has to be added to products that were scaled; then,
// less the largest, times `after`, which is not negative.
struct Scale {
    float before, after;

    __device__ __forceinline__ Scale(const Arguments& p) {
        float scale = (float)p.scale * LOG2_E;
        bool first = p.mask_kind == 2 || !(scale > 0);
        before = first ? scale : 1;
        after = first ? 1 : scale;
    }
};

// Scores of what does not take part become the least number. `row` and `column` are where the lane's first one stands; by rows go
// queries or, where they are TURNED, keys. `edge`: of the tile, not all is there or not all is before the query.
__device__ __forceinline__ void mask(const Arguments& p, u32 head, u32 row, u32 column, bool edge, const Scale& scale, float (&s)[NT][4]) {
    u64 from = head / p.heads * p.mask_batch + head % p.heads * p.mask_head;
    if (p.mask_kind == 1) {
        u32 taken = 0;
#pragma unroll 4
        for (u32 i = 0; i < NT * 4; i++) {
            u32 r = row + i / 2 % 2 * 8, c = column + i / 4 * 8 + i % 2, query = TURNED ? c : r, key = TURNED ? r : c;
            if (query < p.queries && key < p.keys && ((const u8*)p.mask)[from + query * p.mask_row + key]) taken |= 1u << i;
        }
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) s[j][e] = taken & 1u << (j * 4 + e) ? s[j][e] * scale.before : -infinity();
    } else if (scale.after == 1) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 r = row + h * 8;
            // From here on by steps along a row of the tile.
            const float* at = (const float*)p.mask + from + (TURNED ? column * p.mask_row + r : r * p.mask_row + column);
            u64 step = TURNED ? p.mask_row : 1;
            u32 rows = TURNED ? p.keys : p.queries, columns = TURNED ? p.queries : p.keys;
            i32 there = p.mask_kind && r < rows ? (i32)(columns - min(columns, column)) : 0;
#pragma unroll
            for (int j = 0; j < NT; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float more = j * 8 + e < there ? at[(j * 8 + e) * step] : 0;
                    // What is finite stays so.
                    float power = more == -infinity() ? more : fmaxf(more * LOG2_E, -2.9e38f);
                    s[j][2 * h + e] = s[j][2 * h + e] * scale.before + power;
                }
        }
    }
    if (edge) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 r = row + h * 8;
            // What is taken: along a row of the tile, up to here; or from here on.
            i32 bound = (i32)((TURNED ? r : p.causal ? min(r + 1, p.keys) : p.keys) - column);
#pragma unroll
            for (int j = 0; j < NT; j++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    if (TURNED ? j * 8 + e < bound : j * 8 + e >= bound) s[j][2 * h + e] = -infinity();
        }
    }
}

// The tensor cores cut the last 13 bits of an f32 off; see `round_tf32`.
__device__ __forceinline__ void settle(u32 (&x)[4]) {
#pragma unroll
    for (int e = 0; e < 4; e++) round_tf32<HALF>(x[e]);
}

// The sums of a fragment times two of b.
__device__ __forceinline__ void mma_two(float (&low)[4], float (&high)[4], const u32 (&a)[4], const u32 (&b)[4]) {
    mma(low, a, b[0], b[1], T());
    mma(high, a, b[2], b[3], T());
}

// A warp's own rows times the rows of a tile. `own_at` and `tile_at` are a lane's places.
__device__ __forceinline__ void multiply(float (&s)[MT][NT][4], const u32 (&own)[HELD ? STEPS : 1][MT][4], u32 own_at, u32 tile_at) {
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) s[m][j][e] = 0;
#pragma unroll
    for (int i = 0; i < STEPS; i++) {
        u32 a[MT][4];
#pragma unroll
        for (int m = 0; m < MT; m++) {
            if (HELD) {
#pragma unroll
                for (int e = 0; e < 4; e++) a[m][e] = own[HELD ? i : 0][m][e];
            } else {
                ldmatrix(a[m], at_step(own_at, i) + m * 16 * PITCH);
                settle(a[m]);
            }
        }
#pragma unroll
        for (int j = 0; j < NT / 2; j++) {
            u32 b[4];
            ldmatrix(b, at_step(tile_at, i) + j * 16 * PITCH);
            settle(b);
#pragma unroll
            for (int m = 0; m < MT; m++) mma_two(s[m][2 * j], s[m][2 * j + 1], a[m], b);
        }
    }
}

// Adds weights, whose columns are the rows of a tile, times that tile's columns. Sums lie in registers as the halves of a fragment
// of a do. As tf32 they do where columns 2 t and 2 t + 1 count as t and t + 4; so the rows of b are taken in that order, word by word.
__device__ __forceinline__ void add(float (&sum)[MT][COLUMNS / 8][4], const float (&s)[MT][NT][4], u32 tile_at) {
#pragma unroll
    for (int i = 0; i < (HALF ? NT / 2 : NT); i++) {
        u32 a[MT][4];
#pragma unroll
        for (int m = 0; m < MT; m++) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                a[m][e] = HALF ? pair(T(), s[m][HALF ? 2 * i + e / 2 : 0][e % 2 * 2], s[m][HALF ? 2 * i + e / 2 : 0][e % 2 * 2 + 1])
                               : __float_as_uint(s[m][i][e % 2 * 2 + e / 2]);
            settle(a[m]);
        }
#pragma unroll
        for (int j = 0; j < COLUMNS / 16; j++) {
            u32 b[4];
            if (HALF) {
                ldmatrix_transposed(b, at_step(tile_at, j) + i * 16 * PITCH);
            } else {
                // The odd row's chunk is the even row's neighbour.
                u32 low = at_step(tile_at, 2 * j) + i * 8 * PITCH, high = at_step(tile_at, 2 * j + 1) + i * 8 * PITCH;
                b[0] = word(low), b[1] = word((low ^ 16) + PITCH), b[2] = word(high), b[3] = word((high ^ 16) + PITCH);
                settle(b);
            }
#pragma unroll
            for (int m = 0; m < MT; m++) mma_two(sum[m][2 * j], sum[m][2 * j + 1], a[m], b);
        }
    }
}

// Writes a warp's rows, times `by`, through the shared memory of its own ones, which are no longer needed.
__device__ __forceinline__ void store(const float (&sum)[MT][COLUMNS / 8][4], const float (&by)[MT][2], u32 tile, T* to, i32 rows, u32 columns,
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
            if ((i32)row < rows && column < columns) *(float4*)(to + (u64)row * columns + column) = read16(tile + place(row, c));
        }
    } else {
#pragma unroll 1
        for (u32 i = lane; i < ROWS * COLUMNS; i += 32) {
            u32 row = row0 + i / COLUMNS, c = i % COLUMNS, column = first + c;
            u32 from = tile + place(row, c / CHUNK) + c % CHUNK * sizeof(T);
            if ((i32)row >= rows || column >= columns) continue;
            if (HALF) {
                *(u16*)(to + (u64)row * columns + column) = read2(from);
            } else {
                *(u32*)(to + (u64)row * columns + column) = word(from);
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
__device__ __forceinline__ void means(const Arguments& p, u64 at, i32 rows, u32 to) {
    const T *y = p.y + at * p.depth, *g = p.g + at * p.depth;
    u32 part = threadIdx.x % 8;
#pragma unroll 1
    for (u32 row = threadIdx.x / 8; row < OWN; row += THREADS / 8) {
        float sum = 0;
        u64 begin = (u64)row * p.depth;
        if ((i32)row < rows) {
            if (p.flags & FLOWS_ALIGNED) {
#pragma unroll 2
                for (u32 i = part * CHUNK; i < p.depth; i += 8 * CHUNK) {
                    uint4 a = *(const uint4*)(y + begin + i), b = *(const uint4*)(g + begin + i);
                    sum += product(a.x, b.x, T()) + product(a.y, b.y, T()) + (product(a.z, b.z, T()) + product(a.w, b.w, T()));
                }
            } else {
#pragma unroll 1
                for (u32 i = part; i < p.depth; i += 8) sum += to_f32(y[begin + i]) * to_f32(g[begin + i]);
            }
        }
#pragma unroll
        for (int by = 4; by > 0; by /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, by);
        if (part == 0) {
            put4(to + row * 4, __float_as_uint(sum));
            if ((i32)row < rows) p.means_out[at + row] = sum;
        }
    }
}
#endif

extern "C" __global__ void __launch_bounds__(THREADS, V_BLOCKS) V_NAME(const __grid_constant__ Arguments p) {
    extern __shared__ __align__(128) char memory[];
    u32 base = shared_address(memory), ring = base + RING;
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    AttentionPlace where(p);
    u32 head = where.head;
    // Queries with many keys are begun first; keys with many queries are the first ones.
    u32 begin = (!TURNED && p.causal ? p.blocks - 1 - where.block : where.block) * OWN;
    Scale scale(p);
    // Places of a lane in a tile: for fragments of a, of b turned, and of b as it lies.
    u32 lane_a = place(lane % 16, lane / 16), lane_t = HALF ? lane_a : place(lane % 4 * 2, lane / 16) + lane / 4 % 4 * 4;
    u32 lane_b = place(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    u32 own_at = base + warp * ROWS * PITCH + lane_a;
    u32 row = begin + warp * ROWS + lane / 4;

#if V_DKV
    u32 column = where.chunk * COLUMNS;
    i32 rows = min((i32)(p.keys - begin), OWN);
    u64 at = (u64)head * p.keys + begin;
    bring<OWN>(base, p.k + row_at(p.k_steps, p.shared, head, begin), p.k_steps[2], rows, p.width, p.flags & KEYS_ALIGNED);
    bring<OWN>(base + OWNED, p.v + row_at(p.v_steps, p.shared, head, begin), p.v_steps[2], rows, p.depth, p.flags & VALUES_ALIGNED);
    u32 group = p.heads / p.shared, of = head / p.shared * p.heads + head % p.shared * group;
    u32 from = p.causal ? begin / WALK : 0, each = (p.queries + WALK - 1) / WALK;
    each -= min(each, from);
    u32 count = each * group;
    auto fetch = [&](u32 t, u32 to) {
        u32 which = t / each, query = (from + t - which * each) * WALK;
        u64 at = (u64)(of + which) * p.queries + query;
        i32 rows = (i32)(p.queries - query);
        bring<WALK>(to, p.q + row_at(p.q_steps, p.heads, of + which, query), p.q_steps[2], rows, p.width, p.flags & QUERIES_ALIGNED);
        bring<WALK>(to + TILE, p.g + at * p.depth, p.depth, rows, p.depth, p.flags & FLOWS_ALIGNED);
        for (u32 i = threadIdx.x; i < 2 * WALK; i += THREADS) {
            const float* stats = i < WALK ? p.sums : p.means;
            bool there = (i32)(i % WALK) < rows;
            copy4(to + 2 * TILE + i * 4, there ? stats + at + i % WALK : stats, there ? 4 : 0);
        }
    };
#else
    i32 rows = min((i32)(p.queries - begin), OWN);
    u64 at = (u64)head * p.queries + begin;
    bring<OWN>(base, p.q + row_at(p.q_steps, p.heads, head, begin), p.q_steps[2], rows, p.width, p.flags & QUERIES_ALIGNED);
    u32 of = shared_head(p, head);
    u32 end = p.causal ? min(p.keys, begin + (u32)rows) : p.keys, count = (end + WALK - 1) / WALK;
    const T *k = p.k + row_at(p.k_steps, p.shared, of, 0), *v = p.v + row_at(p.v_steps, p.shared, of, 0);
    auto fetch = [&](u32 t, u32 to) {
        i32 rows = (i32)(p.keys - t * WALK);
        bring<WALK>(to, k + t * WALK * p.k_steps[2], p.k_steps[2], rows, p.width, p.flags & KEYS_ALIGNED);
        bring<WALK>(to + TILE, v + t * WALK * p.v_steps[2], p.v_steps[2], rows, p.depth, p.flags & VALUES_ALIGNED);
    };
#if V_DQ
    bring<OWN>(base + OWNED, p.g + at * p.depth, p.depth, rows, p.depth, p.flags & FLOWS_ALIGNED);
    u32 stats = ring + STAGES * STAGE;
    means(p, at, rows, stats);
#endif
#endif
#pragma unroll
    for (u32 t = 0; t < STAGES - 1; t++) {
        if (t < count) fetch(t, ring + t * STAGE);
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
#if !V_DKV
    // Of a lane's rows, eight apart: the largest score and the sum, or the sum's logarithm and what flows back to the mean.
    float top[MT][2], total[MT][2];
#if V_DQ
    __syncthreads();
#endif
#pragma unroll
    for (int m = 0; m < MT; m++)
#pragma unroll
        for (int h = 0; h < 2; h++) {
#if V_DQ
            u32 r = warp * ROWS + m * 16 + h * 8 + lane / 4;
            top[m][h] = (i32)r < rows ? p.sums[at + r] * LOG2_E : 0;
            total[m][h] = *(const float*)(memory + (stats - base) + r * 4);
#else
            top[m][h] = -infinity();
            total[m][h] = 0;
#endif
        }
#endif

    u32 reading = ring, writing = ring + (STAGES - 1) * STAGE;
#pragma unroll 1
    for (u32 t = 0; t < count; t++) {
        copies_wait<STAGES - 2>();
        __syncthreads();
        if (t + STAGES - 1 < count) fetch(t + STAGES - 1, writing);
        copies_end_stage();
        u32 straight = reading + lane_b, turned = reading + lane_t;
        float s[MT][NT][4];
        multiply(s, own, own_at, straight);
#if V_DKV
        u32 which = t / each, walk = (from + t - which * each) * WALK, asks = of + which;
        // Keys beyond the last one have no place in the result.
        bool edge = p.causal && begin + OWN - 1 > walk;
#else
        u32 walk = t * WALK, asks = head;
        bool edge = walk + WALK > p.keys || (p.causal && walk + WALK - 1 > begin);
#endif
        if (edge || p.mask_kind || scale.after == 1)
#pragma unroll
            for (int m = 0; m < MT; m++) mask(p, asks, row + m * 16, walk + lane % 4 * 2, edge, scale, s[m]);
#if V_FORWARD
        bool faded = false;
        float fade[MT][2];
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int h = 0; h < 2; h++) {
                float most = top[m][h];
#pragma unroll
                for (int j = 0; j < NT; j++) most = fmaxf(most, fmaxf(s[m][j][2 * h], s[m][j][2 * h + 1]));
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1));
                most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 2));
                // Where nothing was taken yet there is nothing to subtract.
                float shift = (most > -infinity() ? most : 0) * scale.after;
                fade[m][h] = power_of_two(top[m][h] * scale.after - shift);
                faded |= most != top[m][h];
                top[m][h] = most;
                float part = 0;
#pragma unroll
                for (int j = 0; j < NT; j++)
#pragma unroll
                    for (int e = 2 * h; e < 2 * h + 2; e++) {
                        s[m][j][e] = power_of_two(s[m][j][e] * scale.after - shift);
                        part += s[m][j][e];
                    }
                total[m][h] = total[m][h] * fade[m][h] + part;
            }
        if (__any_sync(0xffffffffu, faded))
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
                    for (int e = 0; e < 4; e++) sum[m][j][e] *= fade[m][e / 2];
        add(sum, s, turned + TILE);
#else
        float back[MT][NT][4];
        multiply(back, other, own_at + OWNED, straight + TILE);
#pragma unroll
        for (int j = 0; j < NT; j++) {
#if V_DKV
            u32 stats = reading + 2 * TILE + (j * 8 + lane % 4 * 2) * 4;
            float2 logs = read8(stats), flows = read8(stats + WALK * 4);
            logs.x *= LOG2_E, logs.y *= LOG2_E;
#endif
#pragma unroll
            for (int m = 0; m < MT; m++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
#if V_DKV
                    float log = e % 2 ? logs.y : logs.x, flow = e % 2 ? flows.y : flows.x;
#else
                    float log = top[m][e / 2], flow = total[m][e / 2];
#endif
                    s[m][j][e] = power_of_two(s[m][j][e] * scale.after - log);
                    back[m][j][e] = s[m][j][e] * (back[m][j][e] - flow);
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
            float all = total[m][h];
            all += __shfl_xor_sync(0xffffffffu, all, 1);
            all += __shfl_xor_sync(0xffffffffu, all, 2);
            bool nothing = all == 0;
            by[m][h] = nothing ? 0 : 1 / all;
            u32 r = warp * ROWS + m * 16 + h * 8 + lane / 4;
            if (lane % 4 == 0 && (i32)r < rows) p.sums_out[at + r] = nothing ? infinity() : top[m][h] * scale.after * 0.6931471805599453f + logf(all);
        }
    store(sum, by, base, p.out + at * p.depth, rows, p.depth, 0, p.flags & RESULTS_ALIGNED);
#else
#pragma unroll
    for (int m = 0; m < MT; m++) by[m][0] = by[m][1] = (float)p.scale;
#if V_DQ
    store(sum, by, base, p.out + at * p.width, rows, p.width, 0, p.flags & RESULTS_ALIGNED);
#else
    store(sum, by, base, p.dk + at * p.width, rows, p.width, column, p.flags & RESULTS_ALIGNED);
#pragma unroll
    for (int m = 0; m < MT; m++) by[m][0] = by[m][1] = 1;
    store(more, by, base + OWNED, p.dv + at * p.depth, rows, p.depth, column, p.flags & RESULTS_ALIGNED);
#endif
#endif
}
