// What attention on tensor cores is made of: tiles of rows in shared memory, their products, masks.
//
// Rows in shared memory are V_D elements long, zeros after the operand's own. Chunks of 16 bytes are exchanged by an exclusive or with the row's
// number, so that eight rows that are read together lie in different banks.
#pragma once
#include "attention.cuh"
#include "mma.cuh"

using T = V_T;
using Arguments = Attention<T, float>;
constexpr bool HALF = Is16<T>::value;

constexpr int D = V_D, WARPS = V_WARPS, MT = V_MT, STAGES = V_STAGES;
constexpr int WALK = V_WALK;  // rows of others that a warp multiplies its own by at a time
constexpr int THREADS = 32 * WARPS, ROWS = 16 * MT;  // a warp's own rows
// Sums of eight columns; steps of two chunks along a row, each a product's depth.
constexpr int CHUNK = 16 / sizeof(T), NT = WALK / 8, STEPS = D / (2 * CHUNK);
constexpr u32 PITCH = D * sizeof(T), CHUNKS = D / CHUNK, TURN = PITCH % 128 == 0 ? 8 : 4;
constexpr float LOG2_E = 1.4426950408889634f, LN_2 = 0.6931471805599453f;
#ifdef V_DKV
constexpr bool TURNED = V_DKV;  // whether a warp's own rows are keys
#else
constexpr bool TURNED = false;
#endif
constexpr bool HELD = V_HELD;       // whether a warp's own rows stay in registers
constexpr int COLUMNS = V_COLUMNS;  // of the result that a block has
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

// Scores of what does not take part become the least number. `rows`, of `heads`, are the lane's two, `column` is where its first one
// stands; by rows go queries or, where they are TURNED, keys. `edge`: not each of the one meets each of the other.
__device__ __forceinline__ void mask(const Arguments& p, const u32 (&heads)[2], const u32 (&rows)[2], u32 column, bool edge, const Scale& scale,
                                     float (&s)[NT][4]) {
    u64 from[2];
#pragma unroll
    for (int h = 0; h < 2; h++) from[h] = heads[h] / p.heads * p.mask_batch + heads[h] % p.heads * p.mask_head;
    if (p.mask_kind == 1) {
        u32 taken = 0;
#pragma unroll 4
        for (u32 i = 0; i < NT * 4; i++) {
            u32 r = i & 2 ? rows[1] : rows[0], c = column + i / 4 * 8 + i % 2, query = TURNED ? c : r, key = TURNED ? r : c;
            u64 at = (i & 2 ? from[1] : from[0]) + query * p.mask_row + key;
            if (query < p.queries && key < p.keys && ((const u8*)p.mask)[at]) taken |= 1u << i;
        }
        // Added, as in PyTorch: a score that is no number stays none.
#pragma unroll
        for (int j = 0; j < NT; j++)
#pragma unroll
            for (int e = 0; e < 4; e++) s[j][e] = fmaf(s[j][e], scale.before, taken & 1u << (j * 4 + e) ? 0.0f : -infinity());
    } else if (scale.after == 1) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            u32 r = rows[h];
            // From here on by steps along a row of the tile.
            const float* at = (const float*)p.mask + from[h] + (TURNED ? column * p.mask_row + r : r * p.mask_row + column);
            u64 step = TURNED ? p.mask_row : 1;
            u32 high = TURNED ? p.keys : p.queries, wide = TURNED ? p.queries : p.keys;
            i32 there = p.mask_kind && r < high ? (i32)(wide - min(wide, column)) : 0;
#pragma unroll
            for (int j = 0; j < NT; j++)
#pragma unroll
                for (int e = 0; e < 2; e++) {
                    float more = j * 8 + e < there ? at[(j * 8 + e) * step] : 0;
                    // What is finite stays so.
                    float power = more * LOG2_E;
                    if (power < -2.9e38f && more != -infinity()) power = -2.9e38f;
                    s[j][2 * h + e] = s[j][2 * h + e] * scale.before + power;
                }
        }
    }
    if (edge) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const Range met = met_by<TURNED>(p, rows[h]);
            u32 first = met.begin - column, count = met.end - met.begin;
#pragma unroll
            for (int j = 0; j < NT; j++)
#pragma unroll
                for (int e = 0; e < 2; e++)
                    if (j * 8 + e - first >= count) s[j][2 * h + e] = -infinity();
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

// Of a lane's rows, eight apart: the largest score, and the sum of the weights that this lane has had.
struct Softmax {
    float top[MT][2], total[MT][2];

    __device__ __forceinline__ Softmax() {
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int h = 0; h < 2; h++) top[m][h] = -infinity(), total[m][h] = 0;
    }

    // Scores become weights, and what was summed with those before fades.
    __device__ __forceinline__ void follow(float (&s)[MT][NT][4], float (&sum)[MT][COLUMNS / 8][4], float after) {
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
                float shift = (most > -infinity() ? most : 0) * after;
                fade[m][h] = power_of_two(top[m][h] * after - shift);
                faded |= most != top[m][h];
                top[m][h] = most;
                float part = 0;
#pragma unroll
                for (int j = 0; j < NT; j++)
#pragma unroll
                    for (int e = 2 * h; e < 2 * h + 2; e++) {
                        s[m][j][e] = power_of_two(s[m][j][e] * after - shift);
                        part += s[m][j][e];
                    }
                total[m][h] = total[m][h] * fade[m][h] + part;
            }
        if (!__any_sync(0xffffffffu, faded)) return;
#pragma unroll
        for (int m = 0; m < MT; m++)
#pragma unroll
            for (int j = 0; j < COLUMNS / 8; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) sum[m][j][e] *= fade[m][e / 2];
    }

    // The sum of a row's weights, of its four lanes.
    __device__ __forceinline__ float all(int m, int h) const {
        float x = total[m][h];
        x += __shfl_xor_sync(0xffffffffu, x, 1);
        return x + __shfl_xor_sync(0xffffffffu, x, 2);
    }
};
