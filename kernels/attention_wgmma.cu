// Attention and its gradient by Hopper's own instructions (wgmma): f16, bf16 and tf32, heads of at most V_D elements.
//
// A block has rows of its own (V_FORWARD, V_DQ: queries; V_DKV: keys), 64 for each group of four warps, and meets tiles of the others,
// which one thread has the copy engine bring. Scores and what becomes of them stay in registers: as sums they lie the way the
// next product takes its first operand. Rows are computed by one group from the first tile to the last, so nothing depends on
// which block is faster. V_MASKED: with a mask in memory. V_DROPOUT: some weights are left out at random; there may be a mask.
#include "attention_span.cuh"
#include "hopper.cuh"
#include "mma.cuh"
#include "thin.cuh"

#ifndef V_DROPOUT
#define V_DROPOUT 0
#endif
static_assert(!V_DROPOUT || V_MASKED && V_D <= 128, "of these there is one text, with masks or without");

using T = V_T;

// The product of two pairs of neighbours, or of two numbers, in words.
__device__ __forceinline__ float both(u32 a, u32 b, tf32) { return __uint_as_float(a) * __uint_as_float(b); }
template <typename T>
__device__ __forceinline__ float both(u32 a, u32 b, T) {
    T low_a = {(u16)a}, high_a = {(u16)(a >> 16)}, low_b = {(u16)b}, high_b = {(u16)(b >> 16)};
    return to_f32(low_a) * to_f32(low_b) + to_f32(high_a) * to_f32(high_b);
}

// EACH: blocks of a multiprocessor. Where rows are so few that most of a wide block's time is waiting, several narrow ones wait side by side.
constexpr int D = V_D, GROUPS = V_GROUPS, OTHERS = V_OTHERS, STAGES = V_STAGES, OWNS = V_OWNS, EACH = V_EACH;
// Registers of a thread that brings, and of one that computes.
constexpr int FEWER = EACH == 4 ? 24 : EACH == 3 || GROUPS == 3 ? 32 : 40;
constexpr int MORE = EACH == 4 ? 104 : EACH == 3 ? 128 : EACH == 2 ? 216 : GROUPS == 3 ? 160 : 232;
static_assert(EACH == 1 ? GROUPS > 1 : GROUPS == 1 && EACH <= 4, "registers are for these");
// A line of 128 bytes has so many elements.
constexpr int LINE = 128 / sizeof(T);
// Sums of 64 keys' gradients and their values' are more than a group has registers for: of such wide heads one group has the scores and the gradients of
// values, a second one what flows back to the weights, and the gradients of keys. The weights go from the one to the other through shared memory.
constexpr bool PAIRED = V_DKV && D > 128;
static_assert(!PAIRED || GROUPS == 2, "a pair is of two");
constexpr int CHUNKS = D / LINE, ROWS = PAIRED ? 64 : 64 * GROUPS, WARPS = 4 * GROUPS;
// Tensor cores take tf32 with lines along what is summed over alone. Where a product sums over the rows of a tile, the group turns it where it lies: see
// `turn`. Turned, eight chunks of 16 bytes lie side by side, and the next eight so far on that threads write at once.
constexpr bool TURNED = sizeof(T) == 4;
constexpr u32 EIGHT = 144;
constexpr u32 TURNED_CHUNK = D / 8 * EIGHT;
static_assert(!TURNED || (D == 64 && OTHERS == 32 && GROUPS == 1), "a thread turns four by four elements of a tile");
// What a block has itself: queries; and what flows back to their means; or keys and values.
#if V_FORWARD
constexpr int OWN = 1;
#else
constexpr int OWN = 2;
#endif
constexpr u32 BYTES_OWN = CHUNKS * ROWS * 128, BYTES_OTHER = CHUNKS * OTHERS * 128;
// From one tile to the next.
constexpr u32 BYTES_PLACE = TURNED ? OTHERS / 4 * TURNED_CHUNK : BYTES_OTHER;
#if V_DKV
// Of each query of a tile the logarithm of its sum, and its mean; of each group how it meets the tile.
constexpr u32 BYTES_NUMBERS = 2 * OTHERS * 4 + 16;
enum Meets { NOT, SOME, EACH_OTHER };
#else
constexpr u32 BYTES_NUMBERS = 0;
#endif
constexpr u32 BYTES_HANDED = PAIRED ? 64 * OTHERS * 4 : 0;  // weights, from one group to another
constexpr float LOG2E = 1.4426950408889634f;
#if V_MASKED
constexpr float LARGEST = 3.4028235e38f;
#endif
#if V_FORWARD
constexpr float LN2 = 0.6931471805599453f;
#endif

// The argument; `library/attention/cuda.rs` writes it. Boxes are 64 elements by as many rows as a tile has, those of results 16.
struct Flash {
    float* sums_out;
    const float* sums;   // logarithms of sums of all queries
    float* means;        // products of means and what flows back to them: V_DQ writes them, V_DKV reads
    const T* y;          // means of values
    u32* tickets;        // a counter
    const void* mask;
    u64 mask_batch, mask_head, mask_row;  // steps of the mask
    u64 y_batch, y_head, y_row;           // and of the means
    float scale;
    u32 heads, shared;   // of queries; of keys and values
    u32 sharing;         // heads of queries that share one of keys and values
    u32 queries, keys;
    u32 mask_kind;       // truth values, numbers
    i32 behind, ahead;   // which keys a query takes: see `met_by`
    u32 last_first;      // whether the last queries take the most keys
    u32 width, depth;
    u32 blocks;          // of rows of a head
    u32 section;         // heads whose blocks follow each other, so that what they read stays in the cache
    u32 turns;           // blocks of all heads
    u32 left_out;        // weights with lower numbers are left out
    float stays;         // the share of those that stay
    float times;         // what these are multiplied by
    const void* seeds;   // of heads of queries
    const int2* ranges;  // of rows that a block has itself, where `behind` and `ahead` do not say what these meet
    TensorMap own[2], other[2], out[2];
};

__device__ __forceinline__ float infinity() { return __int_as_float(0x7f800000); }

// A block of rows, and the tiles that it meets: `count` of them from `first` on, for each head that shares it.
struct Turn {
    u32 row, head, first, count;

    // As it was put into shared memory by the thread that drew it.
    __device__ __forceinline__ explicit Turn(u32 from) {
        float4 of = read16(from);
        row = __float_as_uint(of.x), head = __float_as_uint(of.y), first = __float_as_uint(of.z), count = __float_as_uint(of.w);
    }
    __device__ __forceinline__ void put(u32 to) const {
        put16(to, __uint_as_float(row), __uint_as_float(head), __uint_as_float(first), __uint_as_float(count));
    }
    // After the last there is none.
    __device__ __forceinline__ bool is_one() const { return head != ~0u; }

    __device__ __forceinline__ Turn(const Flash& p, u32 turn) {
        row = first = count = 0, head = ~0u;
        if (turn >= p.turns) return;
        u32 each = p.section * p.blocks, section = turn / each, from = section * p.section;
        u32 all = p.turns / p.blocks;
        u32 height = min(p.section, all - from), rest = turn - section * each;
        u32 block = rest / height;
        head = from + rest - block * height;
#if V_DKV
        // The last heads first: of these, what the gradient of queries has read is still in the second cache.
        head = all - 1 - head;
        row = block * ROWS;
#else
        // The longest first.
        row = (p.last_first ? p.blocks - 1 - block : block) * ROWS;
#endif
        Range met, by_each;
        met_by<V_DKV>(p, row, ROWS, met, by_each);
        first = met.first<OTHERS>();
        count = met.last<OTHERS>() - first;
    }
};

// The turn after the first, by ticket: blocks of rows differ in length, and multiprocessors in speed. The counter is zero again once all are drawn.
__device__ __forceinline__ u32 next_turn(const Flash& p) {
    return gridDim.x < p.turns ? gridDim.x + atomicInc(p.tickets, p.turns - 1) : p.turns;
}

template <int N>
__device__ __forceinline__ void clear(float (&sum)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) sum[i] = 0;
}

// Adds own rows times others, both with lines along what is summed over.
template <int N>
__device__ __forceinline__ void rows_by_rows(float (&sum)[N / 2], u64 own, u64 other) {
#pragma unroll
    for (int s = 0; s < CHUNKS * 4; s++)
        multiply<true, true>(sum, own + (s / 4 * ROWS * 128 + s % 4 * 32) / 16, other + (s / 4 * OTHERS * 128 + s % 4 * 32) / 16, T());
}

// Words of a thread's part of 64 rows of as many numbers as a tile has rows, as a product's first operand.
constexpr int HELD = OTHERS * sizeof(T) / 8;

// Sums as first operand of a product, rounded. As tf32 columns 2 t and 2 t + 1 count as t and t + 4.
__device__ __forceinline__ void rounded(u32 (&to)[HELD], const float (&from)[OTHERS / 2]) {
#pragma unroll
    for (int i = 0; i < HELD; i++) {
        if (TURNED) {
            to[i] = __float_as_uint(from[TURNED ? i / 4 * 4 + i % 2 * 2 + i / 2 % 2 : 0]);
            round_tf32<!TURNED>(to[i]);
        } else {
            to[i] = pair(T(), from[TURNED ? 0 : 2 * i], from[TURNED ? 0 : 2 * i + 1]);
        }
    }
}

// Adds what is in registers times the others.
template <int N>
__device__ __forceinline__ void held_by_others(float (&sum)[N / 2], const u32 (&held)[HELD], u64 other, tf32) {
#pragma unroll
    for (int s = 0; s < OTHERS / 8; s++) multiply_held(sum, &held[4 * s], other + s * 2 * TURNED_CHUNK / 16, tf32());
}
template <int N, typename H>
__device__ __forceinline__ void held_by_others(float (&sum)[N / 2], const u32 (&held)[HELD], u64 other, H) {
#pragma unroll
    for (int s = 0; s < OTHERS / 16; s++) multiply_held<false>(sum, &held[4 * s], other + s * 16 * 128 / 16, H());
}

// Waits for the four warps.
__device__ __forceinline__ void together() { asm volatile("bar.sync 2, 128;" ::: "memory"); }

// A thread's part of a tile that is turned: four elements of four rows, which then lie side by side, in the order in which sums are as a first operand: those
// with even numbers of eight rows, then those with odd ones.
struct Part {
    float4 rows[4];

    __device__ __forceinline__ void take(u32 tile) {
        u32 thread = threadIdx.x % 128, of = thread % 16, chunk = of % 8, first = thread / 32 * 8 + thread / 16 % 2;
#pragma unroll
        for (int t = 0; t < 4; t++) {
            u32 row = first + 2 * t;
            rows[t] = read16(tile + of / 8 * (OTHERS * 128) + row * 128 + ((chunk ^ row % 8) << 4));
        }
    }
    __device__ __forceinline__ void put(u32 tile) const {
        u32 thread = threadIdx.x % 128, of = thread % 16, to = tile + thread / 16 * TURNED_CHUNK + of / 2 * EIGHT + of % 2 * 64;
        put16(to, rows[0].x, rows[1].x, rows[2].x, rows[3].x);
        put16(to + 16, rows[0].y, rows[1].y, rows[2].y, rows[3].y);
        put16(to + 32, rows[0].z, rows[1].z, rows[2].z, rows[3].z);
        put16(to + 48, rows[0].w, rows[1].w, rows[2].w, rows[3].w);
    }
};

// A turned tile, as the products are told of it.
__device__ __forceinline__ u64 turned(u32 at) {
    return (u64)(EIGHT >> 4) << 32 | (u64)(TURNED_CHUNK >> 4) << 16 | (at & 0x3ffff) >> 4;
}

// Whether there is a mask in memory.
__device__ __forceinline__ bool has_mask(const Flash& p) { return V_DROPOUT ? p.mask_kind > 0 : V_MASKED; }

#if V_MASKED
// Groups of eight of the others whose part of a mask is asked for together: between them registers are free again.
constexpr int ASKED = 2;
// Scores of a tile as the softmax takes them, times log2(e), with what the mask of a head adds; where rows are KEYS, those that a block has itself, the mask has a row
// for each of the others. `row`: this thread's first; `from`: the tile's first of the others. All places are a few steps from the first one's.
template <bool KEYS>
__device__ __forceinline__ void add_mask(float (&score)[OTHERS / 2], const Flash& p, u32 head, u32 row, u32 from, float scale) {
    const u64 own = KEYS ? 1 : p.mask_row, other = KEYS ? p.mask_row : 1;
    const u32 first = from + threadIdx.x % 4 * 2;
    const u64 at = head / p.heads * p.mask_batch + head % p.heads * p.mask_head + row * own + first * other;
    const Range met[2] = {met_by<KEYS>(p, anew(row)), met_by<KEYS>(p, anew(row) + 8)};
    const bool numbers = p.mask_kind != 1;
    const u8* truths = (const u8*)p.mask + at;
    const float* values = (const float*)p.mask + at;
#pragma unroll
    for (int c = 0; c < OTHERS / 8; c += ASKED) {
        bool any = first + (c + ASKED) * 8 > met[0].begin && first + c * 8 < met[1].end;
#pragma unroll
        for (int i = 4 * c; i < 4 * (c + ASKED); i++) score[i] = any ? score[i] : -infinity();
        if (any) {
#pragma unroll
            for (int i = 4 * c; i < 4 * (c + ASKED); i++) {
                bool meet = met[i / 2 % 2].has(first + i / 4 * 8 + i % 2);
                u64 place = (i / 4 * 8 + i % 2) * other + i / 2 % 2 * 8 * own;
                float added = 0;
                if (meet && numbers) added = values[place];
                if (meet && !numbers) added = truths[place] ? 0.0f : -infinity();
                // Added, as in PyTorch: a score that is no number stays none.
                float x = fmaf(added, LOG2E, score[i] * scale);
                // The least number is no infinity: where all keys have it they share the weight.
                if (numbers && added > -infinity() && x < -LARGEST) x = -LARGEST;
                score[i] = meet ? x : -infinity();
            }
        }
    }
}
#endif

#if V_DROPOUT
// Which weights of a tile stay: what stands for sum 4 j + i of this thread is bit 4 j + i, or, of tiles of 32, as `at` says.
struct Stay {
    // Blocks of numbers that a thread computes for 64 of the others, or for all where these are 32.
    static constexpr int EACH = OTHERS >= 64 ? 4 : 2, WORDS = OTHERS / (16 * EACH);
    u32 bits[WORDS];

    __device__ __forceinline__ bool of(int sum) const {
        int at = EACH == 4 ? sum % 32 : sum / 8 * 16 + sum % 8;
        return bits[EACH == 4 ? sum / 32 : 0] >> at & 1;
    }

    // Four lanes have a row's sums, and eight lanes a column's. What one of them computes of eight keys, all of these want a part of: the upper half goes to the
    // upper half of the lanes, and so on.
    template <int LANES>
    __device__ __forceinline__ static u32 halves(u32 bits, bool upper) {
        u32 other = __shfl_xor_sync(~0u, bits, LANES);
        return __byte_perm(bits, other, upper ? 0x3276 : 0x5410);
    }
    template <int LANES, int BITS>
    __device__ __forceinline__ static u32 parts(u32 bits, bool upper) {
        u32 mask = (BITS == 2 ? 0x33333333u : 0x55555555u) << (upper ? BITS : 0);
        u32 other = __shfl_xor_sync(~0u, bits, LANES) & mask;
        return bits & mask | (upper ? other >> BITS : other << BITS);
    }

    // Of the block of numbers of a query and eight keys: four bits in each half, above those so far.
    __device__ __forceinline__ static void compare(u32& bits, u32 eighth, u32 query, const Seeds& seeds, const Threshold& threshold) {
        u32 words[4];
        thin_block(words, eighth, query, seeds);
#pragma unroll
        for (int i = 0; i < 4; i++) bits = bits >> 1 | threshold.of(words[i]);
    }

    // `row`: this thread's first; `from`: the tile's first.
    __device__ __forceinline__ void draw(u32 row, u32 from, const Seeds& seeds, const Threshold& threshold) {
        u32 lane = threadIdx.x % 32;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            u32 all = 0;
#if V_DKV
            u32 eighth = row / 8 + lane / 8 % 2;
            u32 query = from + w * 64 + lane / 16 * (8 * EACH) + lane % 4 * 2 + lane / 4 % 2;
#pragma unroll
            for (int i = 0; i < EACH; i++) compare(all, eighth, query + i * 8, seeds, threshold);
#else
            u32 query = row + lane % 2 * 8, eighth = from / 8 + w * 8 + lane / 2 % 2 * EACH;
#pragma unroll
            for (int i = 0; i < EACH; i++) compare(all, eighth + i, query, seeds, threshold);
#endif
            if (EACH == 2) all >>= 8;
#if V_DKV
            all = halves<16>(all, lane & 16);
            all = parts<8, 2>(all, lane & 8);
            bits[w] = parts<4, 1>(all, lane & 4);
#else
            all = halves<2>(all, lane & 2);
            bits[w] = parts<1, 2>(all, lane & 1);
#endif
        }
    }
};
#endif

// Scores of rows and others that do not meet: times a positive number, the least one there is.
template <bool KEYS>
__device__ __forceinline__ void leave_out(float (&score)[OTHERS / 2], const Flash& p, u32 row, u32 from) {
    const Range met[2] = {met_by<KEYS>(p, anew(row)), met_by<KEYS>(p, anew(row) + 8)};
#pragma unroll
    for (int i = 0; i < OTHERS / 2; i++)
        if (!met[i / 2 % 2].has(from + i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2)) score[i] = -infinity();
}

// A weight of a score, and the logarithm of the sum that it is a part of. By masks with the largest numbers both can be so large that their
// difference is rounding alone: a weight is never more than one.
__device__ __forceinline__ float weight(float score, float logarithm) {
    float power = score - logarithm;
    return power_of_two(V_MASKED && power > 0 ? 0.0f : power);
}

// Rounds the sums of this warp's 16 rows, and stores them by the copy engine through shared memory that has had its time.
__device__ __forceinline__ void store(const TensorMap* map, u32 at, u32 row, u32 head, u32 batch, u32 warp, u32 lane,
                                      const float (&sum)[D / 2]) {
    u32 r = lane % 16, c = lane / 16;
#pragma unroll
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        u32 to = at + chunk * ROWS * 128 + warp * 16 * 128;
        const float* d = sum + chunk * LINE / 2;
        if (TURNED) {
#pragma unroll
            for (int i = 0; i < 8; i++) {
                u32 row = lane / 4 + i % 2 * 8, from = i / 2 * 4 + i % 2 * 2;
                put8(to + row * 128 + ((i / 2 * 2 + lane % 4 / 2 ^ row % 8) << 4) + lane % 2 * 8, d[from], d[from + 1]);
            }
        } else {
#pragma unroll
            for (int j = 0; j < 8; j += 2, d += 8)
                stmatrix(to + r * 128 + (((j + c) ^ (r % 8)) << 4), pair(T(), d[0], d[1]), pair(T(), d[2], d[3]), pair(T(), d[4], d[5]),
                         pair(T(), d[6], d[7]));
        }
    }
    written();
    __syncwarp();
    if (lane == 0) {
#pragma unroll
        for (int chunk = 0; chunk < CHUNKS; chunk++)
            take(map, at + chunk * ROWS * 128 + warp * 16 * 128, chunk * LINE, row + warp * 16, head, batch);
        taken_end();
    }
}

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), EACH) V_NAME(const Flash p) {
    extern __shared__ __align__(1024) u8 memory[];
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 own = (shared_address(memory) + 1023) & ~1023u;
    const u32 others = own + OWNS * OWN * BYTES_OWN, numbers = others + STAGES * 2 * BYTES_PLACE;
    // Of each place for own rows whose turn it is.
    const u32 handed = numbers + STAGES * BYTES_NUMBERS, turns = handed + BYTES_HANDED, barriers = turns + OWNS * 16;
    // Of each operand of each stage whether it has come, and whether it may be replaced.
    const u32 own_full = barriers, own_empty = own_full + OWNS * 8, full = own_empty + OWNS * 8, empty = full + STAGES * 16;
    // Of each place for own rows whether it is known whose turn it is.
    const u32 turn_full = empty + STAGES * 16;
    if (threadIdx.x == 0) {
        for (int s = 0; s < OWNS; s++) {
            barrier_init(own_full + s * 8, 1);
            // Two warps beside those that compute have to know the turn, too.
            barrier_init(own_empty + s * 8, WARPS + 2 * V_DKV);
            barrier_init(turn_full + s * 8, 1);
        }
        for (int s = 0; s < STAGES * 2; s++) {
            // With the first come numbers by a warp, and how it is met.
            barrier_init(full + s * 8, V_DKV && s % 2 == 0 ? 34 : 1);
            barrier_init(empty + s * 8, WARPS);
        }
        barriers_ready();
        for (int i = 0; i < OWN; i++) prefetch(&argument<Flash>()->own[i]);
        prefetch(&argument<Flash>()->other[0]);
        prefetch(&argument<Flash>()->other[1]);
    }
    __syncthreads();

    // Tiles so far, the same for all who meet them: the stage of the next, and the phase of its barriers.
    u32 met = 0;
    auto stage_of = [](u32 met) { return met % STAGES; };
    auto phase_of = [](u32 met) { return met / STAGES & 1; };
    // Waits for the turn of a round.
    auto turn_of = [&](u32 round) {
        barrier_wait(turn_full + round % OWNS * 8, round / OWNS & 1);
        return Turn(turns + round % OWNS * 16);
    };
    // In each of the batch, heads that rows are of, and for each of them those that others are of.
#if V_DKV
    const u32 heads = p.shared, each = p.sharing;
    auto other_head = [&](u32 head) { return head * each; };
#else
    const u32 heads = p.heads, each = p.sharing;
    auto other_head = [&](u32 head) { return head / each; };
#endif

    if (warp < 4) {
        fewer_registers<FEWER>();
        if (threadIdx.x == 0) {
            u32 turn = blockIdx.x;
#pragma unroll 1
            for (u32 round = 0;; round++) {
                u32 slot = round % OWNS, to_own = own + slot * OWN * BYTES_OWN;
                barrier_wait(own_empty + slot * 8, (round / OWNS & 1) ^ 1);
                const Turn at(p, turn);
                at.put(turns + slot * 16);
                barrier_arrive(turn_full + slot * 8);
                if (!at.is_one()) break;
                barrier_expect(own_full + slot * 8, OWN * BYTES_OWN);
#pragma unroll
                for (int i = 0; i < OWN; i++)
#pragma unroll
                    for (int c = 0; c < CHUNKS; c++)
                        bring(to_own + i * BYTES_OWN + c * ROWS * 128, &argument<Flash>()->own[i], own_full + slot * 8, c * LINE, at.row, at.head % heads,
                              at.head / heads);
                u32 head = other_head(at.head % heads), batch = at.head / heads;
#pragma unroll 1
                for (u32 g = 0; g < (V_DKV ? each : 1); g++)
#pragma unroll 1
                    for (u32 t = 0; t < at.count; t++) {
                        const u32 stage = stage_of(met), phase = phase_of(met);
#pragma unroll
                        for (int i = 0; i < 2; i++) {
                            u32 to = others + (stage * 2 + i) * BYTES_PLACE, barrier = full + (stage * 2 + i) * 8;
                            barrier_wait(empty + (stage * 2 + i) * 8, phase ^ 1);
                            barrier_expect(barrier, BYTES_OTHER);
#pragma unroll
                            for (int c = 0; c < CHUNKS; c++)
                                bring(to + c * OTHERS * 128, &argument<Flash>()->other[i], barrier, c * LINE, (at.first + t) * OTHERS, head + g, batch);
                        }
                        met++;
                    }
                // Not before: what is drawn early is not there for those who are free.
                turn = next_turn(p);
            }
        }
#if V_DKV
        if (warp == 1) {
#pragma unroll 1
            for (u32 round = 0;; round++) {
                const Turn at = turn_of(round);
                if (!at.is_one()) break;
                __syncwarp();
                if (lane == 0) barrier_arrive(own_empty + round % OWNS * 8);
                u32 head = at.head * each;
#pragma unroll 1
                for (u32 g = 0; g < (V_DKV ? each : 1); g++)
#pragma unroll 1
                    for (u32 t = 0; t < at.count; t++) {
                        const u32 stage = stage_of(met), phase = phase_of(met);
                        barrier_wait(empty + stage * 16, phase ^ 1);
                        u32 to = numbers + stage * BYTES_NUMBERS, tile = (at.first + t) * OTHERS;
#pragma unroll 1
                        for (u32 i = lane; i < OTHERS; i += 32) {
                            u32 query = tile + i;
                            u64 from = (u64)(head + g) * p.queries + query;
                            bool inside = query < p.queries;
                            // Of no query: nothing takes part.
                            float sum = inside ? p.sums[from] * LOG2E : infinity(), mean = inside ? p.means[from] : 0.0f;
                            if (V_DROPOUT) mean *= p.stays;
                            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + i * 4), "f"(sum) : "memory");
                            asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + (OTHERS + i) * 4), "f"(mean) : "memory");
                        }
                        barrier_arrive(full + stage * 16);
                        met++;
                    }
            }
        }
        // A warp tells the groups how they meet a tile, a lane for each.
        if (warp == 2) {
#pragma unroll 1
            for (u32 round = 0;; round++) {
                const Turn at = turn_of(round);
                if (!at.is_one()) break;
                __syncwarp();
                if (lane == 0) barrier_arrive(own_empty + round % OWNS * 8);
                u32 begin = at.row + lane * 64;
                bool has_rows = lane < ROWS / 64 && begin < p.keys;
                Range any = {0, 0}, by_each = {0, 0};
                if (has_rows) met_by<true>(p, begin, 64, any, by_each);
#pragma unroll 1
                for (u32 g = 0; g < each; g++)
#pragma unroll 1
                    for (u32 t = 0; t < at.count; t++) {
                        const u32 stage = stage_of(met), phase = phase_of(met), tile = (at.first + t) * OTHERS;
                        barrier_wait(empty + stage * 16, phase ^ 1);
                        u32 how = tile + OTHERS > any.begin && tile < any.end ? SOME : NOT;
                        if (tile >= by_each.begin && tile + OTHERS <= by_each.end) how = EACH_OTHER;
                        if (lane < ROWS / 64) put4(numbers + stage * BYTES_NUMBERS + 2 * OTHERS * 4 + lane * 4, how);
                        __syncwarp();
                        if (lane == 0) barrier_arrive(full + stage * 16);
                        met++;
                    }
            }
        }
#endif
    } else {
        more_registers<MORE>();
        const u32 group = GROUPS == 1 || PAIRED ? 0 : warp / 4 - 1, mine = PAIRED ? warp % 4 : warp - 4;
        auto release = [&](u32 barrier) {
            if (lane == 0) barrier_arrive(barrier);
        };
        auto tile = [&](u32 stage, int i) { return others + (stage * 2 + i) * BYTES_PLACE; };
        auto lines_k = [&](u32 stage, int i) { return matrix<true>(tile(stage, i), 0); };
        auto lines_n = [&](u32 stage, int i) { return TURNED ? turned(tile(stage, i)) : matrix<false>(tile(stage, i), OTHERS * 128); };
        const float scale = p.scale * LOG2E;
#if V_DKV || V_DQ
        const float gradient_scale = V_DROPOUT ? p.scale * p.times : p.scale;
#endif
#if V_DROPOUT
        const Threshold threshold(p.left_out);
#endif
#if V_DKV
        // Of a pair of neighbouring queries: the logarithms of their sums, or their means, which lie `more` further on.
        auto number = [&](u32 stage, int j, u32 more) {
            float2 two;
            u32 at = numbers + stage * BYTES_NUMBERS + more + lane % 4 * 8 + j * 32;
            asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(two.x), "=f"(two.y) : "r"(at) : "memory");
            return two;
        };
        auto how_met = [&](u32 stage) { return __float_as_uint(read4(numbers + stage * BYTES_NUMBERS + 2 * OTHERS * 4 + group * 4)); };
        // Scores of this lane's keys, the first of them `row`, and a tile of queries become weights.
        auto weigh = [&](float (&score)[OTHERS / 2], u32 stage, bool whole, u32 row, u32 from, u32 head) {
#if V_MASKED
            if (has_mask(p)) {
                add_mask<true>(score, p, head, row, from, scale);
#pragma unroll
                for (int j = 0; j < OTHERS / 8; j++) {
                    float2 of = number(stage, j, 0);
                    float* x = score + 4 * j;
                    x[0] = weight(x[0], of.x), x[1] = weight(x[1], of.y), x[2] = weight(x[2], of.x), x[3] = weight(x[3], of.y);
                }
                return;
            }
#endif
            if (!whole) leave_out<true>(score, p, row, from);
#pragma unroll
            for (int j = 0; j < OTHERS / 8; j++) {
                float2 of = number(stage, j, 0);
                float* x = score + 4 * j;
                x[0] = power_of_two(fmaf(x[0], scale, -of.x));
                x[1] = power_of_two(fmaf(x[1], scale, -of.y));
                x[2] = power_of_two(fmaf(x[2], scale, -of.x));
                x[3] = power_of_two(fmaf(x[3], scale, -of.y));
            }
        };
#endif
#pragma unroll 1
        for (u32 round = 0;; round++) {
            const Turn at = turn_of(round);
            if (!at.is_one()) break;
            __syncwarp();
            const u32 begin = at.row + group * 64, row = begin + warp % 4 * 16 + lane / 4;
            const u32 slot = round % OWNS, mine_at = own + slot * OWN * BYTES_OWN;
            const u64 rows0 = matrix<true>(mine_at + group * 64 * 128, 0);
#if V_DQ
            // Two lanes have a row's product of the means and what flows back to them. The means are on their way while the rows come.
            const u32 own_row = group * 64 + warp % 4 * 16 + lane / 2, query = at.row + own_row;
            constexpr int CHUNK = 16 / sizeof(T), PARTS = D / CHUNK / 2;
            uint4 means_of[PARTS];
#pragma unroll
            for (int j = 0; j < PARTS; j++) {
                const T* y = p.y + at.head / heads * p.y_batch + at.head % heads * p.y_head + query * p.y_row;
                u32 column = (lane % 2 * PARTS + j) * CHUNK;
                means_of[j] = query < p.queries && column < p.depth ? *(const uint4*)(y + column) : make_uint4(0, 0, 0, 0);
            }
#endif
            barrier_wait(own_full + slot * 8, round / OWNS & 1);
#if !V_FORWARD
            const u64 rows1 = matrix<true>(mine_at + BYTES_OWN + group * 64 * 128, 0);
#endif
#if V_DKV && V_D > 128
            float sum[D / 2];
            clear(sum);
            const u32 all = each * at.count;
            // Of 256 threads.
            constexpr int THERE = 3, GONE = 4, ENDED = 5;
            const u32 to_handed = handed + threadIdx.x % 128 * 16;
            // The stage whose last product is still under way.
            u32 before = STAGES;
            if (warp < 8) {
                u32 t = 0, g = 0;
#pragma unroll 1
                for (u32 i = 0; i < all; i++, met++) {
                    const u32 stage = stage_of(met), phase = phase_of(met);
                    barrier_wait(full + stage * 16, phase);
                    float score[OTHERS / 2];
                    clear(score);
                    settle(score);
                    products_begin();
                    rows_by_rows<OTHERS>(score, rows0, lines_k(stage, 0));
                    products_commit();
                    products_wait<1>();
                    settle(sum);
                    if (before < STAGES) release(empty + before * 16 + 8);
                    before = stage;
                    products_wait<0>();
                    settle(score);
                    weigh(score, stage, how_met(stage) == EACH_OTHER, row, (at.first + t) * OTHERS, at.head * each + g);
                    release(empty + stage * 16);
                    if (i > 0) asm volatile("bar.sync %0, 256;" ::"n"(GONE) : "memory");
#pragma unroll
                    for (int i = 0; i < OTHERS / 2; i += 4) put16(to_handed + i * 512, score[i], score[i + 1], score[i + 2], score[i + 3]);
                    asm volatile("bar.arrive %0, 256;" ::"n"(THERE) : "memory");
                    u32 weights[HELD];
                    rounded(weights, score);
                    barrier_wait(full + stage * 16 + 8, phase);
                    settle(sum);
                    products_begin();
                    held_by_others<D>(sum, weights, lines_n(stage, 1), T());
                    products_commit();
                    if (++t == at.count) t = 0, g++;
                }
                products_wait<0>();
                settle(sum);
                if (before < STAGES) release(empty + before * 16 + 8);
            } else {
#pragma unroll 1
                for (u32 i = 0; i < all; i++, met++) {
                    const u32 stage = stage_of(met), phase = phase_of(met);
                    barrier_wait(full + stage * 16 + 8, phase);
                    float back[OTHERS / 2];
                    clear(back);
                    settle(back);
                    products_begin();
                    rows_by_rows<OTHERS>(back, rows1, lines_k(stage, 1));
                    products_commit();
                    products_wait<1>();
                    settle(sum);
                    if (before < STAGES) release(empty + before * 16);
                    before = stage;
                    products_wait<0>();
                    settle(back);
                    release(empty + stage * 16 + 8);
                    barrier_wait(full + stage * 16, phase);
                    asm volatile("bar.sync %0, 256;" ::"n"(THERE) : "memory");
#pragma unroll
                    for (int j = 0; j < OTHERS / 8; j++) {
                        float2 mean = number(stage, j, OTHERS * 4);
                        float4 x = read16(to_handed + j * 2048);
                        float* y = back + 4 * j;
                        y[0] = x.x * (y[0] - mean.x);
                        y[1] = x.y * (y[1] - mean.y);
                        y[2] = x.z * (y[2] - mean.x);
                        y[3] = x.w * (y[3] - mean.y);
                    }
                    if (i + 1 < all) asm volatile("bar.arrive %0, 256;" ::"n"(GONE) : "memory");
                    u32 flow[HELD];
                    rounded(flow, back);
                    settle(sum);
                    products_begin();
                    held_by_others<D>(sum, flow, lines_n(stage, 0), T());
                    products_commit();
                }
                products_wait<0>();
                settle(sum);
                if (before < STAGES) release(empty + before * 16);
#pragma unroll
                for (int i = 0; i < D / 2; i++) sum[i] *= gradient_scale;
            }
            __syncwarp();
            // Both have read all of the block's rows.
            asm volatile("bar.sync %0, 256;" ::"n"(ENDED) : "memory");
            const u32 which = warp < 8;
            store(&argument<Flash>()->out[which], mine_at + which * BYTES_OWN, at.row, at.head % heads, at.head / heads, mine, lane, sum);
#elif V_DKV
            float dk[D / 2], dv[D / 2];
            clear(dk);
            clear(dv);
            // Where there are registers for it, the last product of a tile is still under way while the next begins; this is its stage.
            constexpr bool LATE = D == 64 && GROUPS == 2 && OTHERS == 64;
            static_assert(!LATE || STAGES > 2, "a stage is let go one tile later");
            u32 before = STAGES;
#pragma unroll 1
            for (u32 g = 0; g < (V_DKV ? each : 1); g++) {
#if V_DROPOUT
                const Seeds seeds(p.seeds, at.head * each + g);
#endif
#pragma unroll 1
                for (u32 t = 0; t < at.count; t++, met++) {
                    const u32 stage = stage_of(met), phase = phase_of(met);
                    const u32 from = (at.first + t) * OTHERS;
                    barrier_wait(full + stage * 16, phase);
                    barrier_wait(full + stage * 16 + 8, phase);
                    if (how_met(stage) == NOT) {
                        // The stages go round while this group passes by.
                        if (LATE && before < STAGES) {
                            products_wait<0>();
                            settle(dk);
                            release(empty + before * 16);
                            before = STAGES;
                        }
                        __syncwarp();
                        release(empty + stage * 16);
                        release(empty + stage * 16 + 8);
                        continue;
                    }
                    float score[OTHERS / 2], back[OTHERS / 2];
                    clear(score);
                    clear(back);
                    settle(score);
                    settle(back);
                    products_begin();
                    rows_by_rows<OTHERS>(score, rows0, lines_k(stage, 0));
                    products_commit();
                    rows_by_rows<OTHERS>(back, rows1, lines_k(stage, 1));
                    products_commit();
#if V_DROPOUT
                    Stay stay;
                    // What the first of ten rounds has of the words is not held in registers, which are few here.
                    Seeds words = seeds;
                    words.low = anew(words.low), words.high = anew(words.high);
                    stay.draw(row, from, words, threshold);
#endif
                    if (LATE) {
                        products_wait<2>();
                        settle(dk);
                        if (before < STAGES) release(empty + before * 16);
                        before = stage;
                    }
                    products_wait<1>();
                    settle(score);
                    weigh(score, stage, how_met(stage) == EACH_OTHER, row, from, at.head * each + g);
                    u32 weights[HELD], flow[HELD];
#if V_DROPOUT
                    {
                        float kept[OTHERS / 2];
#pragma unroll
                        for (int i = 0; i < OTHERS / 2; i++) kept[i] = stay.of(i) ? score[i] : 0.0f;
                        rounded(weights, kept);
                    }
#else
                    rounded(weights, score);
#endif
                    products_wait<0>();
                    settle(back);
#if V_DROPOUT
#pragma unroll
                    for (int i = 0; i < OTHERS / 2; i++) back[i] = stay.of(i) ? back[i] : 0.0f;
#endif
                    auto flows = [&]() {
#pragma unroll
                        for (int j = 0; j < OTHERS / 8; j++) {
                            float2 mean = number(stage, j, OTHERS * 4);
                            float *x = score + 4 * j, *y = back + 4 * j;
                            y[0] = x[0] * (y[0] - mean.x);
                            y[1] = x[1] * (y[1] - mean.y);
                            y[2] = x[2] * (y[2] - mean.x);
                            y[3] = x[3] * (y[3] - mean.y);
                        }
                        rounded(flow, back);
                    };
                    if (TURNED) {
                        flows();
                        Part part;
                        part.take(tile(stage, 1));
                        together();
                        part.put(tile(stage, 1));
                        part.take(tile(stage, 0));
                        together();
                        part.put(tile(stage, 0));
                        written();
                        together();
                    }
                    settle(dv);
                    products_begin();
                    held_by_others<D>(dv, weights, lines_n(stage, 1), T());
                    products_commit();
                    if (!TURNED) flows();
                    settle(dk);
                    products_begin();
                    held_by_others<D>(dk, flow, lines_n(stage, 0), T());
                    products_commit();
                    products_wait<1>();
                    settle(dv);
                    release(empty + stage * 16 + 8);
                    if (!LATE) {
                        products_wait<0>();
                        settle(dk);
                        release(empty + stage * 16);
                    }
                }
            }
            products_wait<0>();
            settle(dk);
            if (LATE && before < STAGES) release(empty + before * 16);
#pragma unroll
            for (int i = 0; i < D / 2; i++) dk[i] *= gradient_scale;
#if V_DROPOUT
#pragma unroll
            for (int i = 0; i < D / 2; i++) dv[i] *= p.times;
#endif
            __syncwarp();
            // The four warps have all read the group's rows.
            asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
            store(&argument<Flash>()->out[0], mine_at, at.row, at.head % heads, at.head / heads, mine, lane, dk);
            store(&argument<Flash>()->out[1], mine_at + BYTES_OWN, at.row, at.head % heads, at.head / heads, mine, lane, dv);
#else
            // The tiles that this group meets, and those of the block.
            Range any = {0, 0}, by_each = {0, 0};
            if (begin < p.queries) met_by<false>(p, begin, 64, any, by_each);
            const u32 first = any.first<OTHERS>(), last = any.last<OTHERS>(), end = at.first + at.count;
            auto whole = [&](u32 from) { return from >= by_each.begin && from + OTHERS <= by_each.end; };
            // Tiles that only other groups of this block meet.
            auto pass = [&](u32 from, u32 to) {
#pragma unroll 1
                for (u32 t = from; t < to; t++, met++) {
                    const u32 stage = stage_of(met), phase = phase_of(met);
                    barrier_wait(full + stage * 16, phase);
                    release(empty + stage * 16);
                    barrier_wait(full + stage * 16 + 8, phase);
                    release(empty + stage * 16 + 8);
                }
            };
            pass(at.first, min(first, end));
            float sum[D / 2];
            clear(sum);
#if V_DROPOUT
            const Seeds seeds(p.seeds, at.head);
            Stay stay;
#endif
#if V_FORWARD
            float top[2] = {-infinity(), -infinity()}, total[2] = {0, 0}, fade[2];
            float score[OTHERS / 2];
            u32 weights[HELD];
            auto scores = [&](u32 stage) {
                clear(score);
                settle(score);
                products_begin();
                rows_by_rows<OTHERS>(score, rows0, lines_k(stage, 0));
                products_commit();
            };
            // Scores become weights, by the largest so far; `fade` is what sums so far are multiplied by.
            auto softmax = [&](u32 from) {
                float times = scale;
                if (!has_mask(p) && !whole(from)) leave_out<false>(score, p, row, from);
#if V_MASKED
                if (has_mask(p)) {
                    times = 1;
                    add_mask<false>(score, p, at.head, row, from, scale);
                }
#endif
                float most[2] = {score[0], score[2]};
#pragma unroll
                for (int i = 0; i < OTHERS / 2; i++) most[i / 2 % 2] = fmaxf(most[i / 2 % 2], score[i]);
#pragma unroll
                for (int r = 0; r < 2; r++) {
                    most[r] = fmaxf(most[r], __shfl_xor_sync(~0u, most[r], 1));
                    most[r] = fmaxf(most[r], __shfl_xor_sync(~0u, most[r], 2));
                    most[r] = fmaxf(top[r], most[r] * times);
                    // Where nothing was taken yet there is nothing to subtract.
                    float shift = most[r] == -infinity() ? 0.0f : most[r];
                    fade[r] = power_of_two(top[r] - shift);
                    top[r] = most[r];
                    float part = 0;
#pragma unroll
                    for (int j = 0; j < OTHERS / 8; j++)
#pragma unroll
                        for (int i = 2 * r; i < 2 * r + 2; i++) {
                            float& x = score[4 * j + i];
                            x = power_of_two(fmaf(x, times, -shift));
                            part += x;
                        }
                    total[r] = fmaf(total[r], fade[r], part);
                }
#if V_DROPOUT
#pragma unroll
                for (int i = 0; i < OTHERS / 2; i++) score[i] = stay.of(i) ? score[i] : 0.0f;
#endif
            };
            // Which weights stay is computed while tensor cores have the scores.
            auto draw = [&](u32 from) {
#if V_DROPOUT
                stay.draw(row, from, seeds, threshold);
#endif
            };
            auto fades = [&]() {
#pragma unroll
                for (int i = 0; i < D / 2; i++) sum[i] *= fade[i / 2 % 2];
            };
            auto means = [&](u32 stage) {
                settle(sum);
#pragma unroll
                for (int i = 0; i < HELD; i++) asm volatile("" : "+r"(weights[i])::"memory");
                products_begin();
                held_by_others<D>(sum, weights, lines_n(stage, 1), T());
                products_commit();
            };
#if V_OVERLAP
            // Products of a tile's weights run while the next one's scores become weights.
            if (last > first) {
                barrier_wait(full + stage_of(met) * 16, phase_of(met));
                scores(stage_of(met));
                draw(first * OTHERS);
                products_wait<0>();
                settle(score);
                release(empty + stage_of(met) * 16);
                softmax(first * OTHERS);
                rounded(weights, score);
#pragma unroll 1
                for (u32 t = first + 1; t < last; t++) {
                    const u32 before = stage_of(met), before_phase = phase_of(met);
                    met++;
                    const u32 stage = stage_of(met), phase = phase_of(met);
                    barrier_wait(full + stage * 16, phase);
                    scores(stage);
                    barrier_wait(full + before * 16 + 8, before_phase);
                    means(before);
                    draw(t * OTHERS);
                    products_wait<1>();
                    settle(score);
                    release(empty + stage * 16);
                    softmax(t * OTHERS);
                    products_wait<0>();
                    settle(sum);
                    release(empty + before * 16 + 8);
                    fades();
                    rounded(weights, score);
                }
                barrier_wait(full + stage_of(met) * 16 + 8, phase_of(met));
                means(stage_of(met));
                products_wait<0>();
                settle(sum);
                release(empty + stage_of(met) * 16 + 8);
                met++;
            }
#else
#pragma unroll 1
            for (u32 t = first; t < last; t++, met++) {
                const u32 stage = stage_of(met), phase = phase_of(met);
                barrier_wait(full + stage * 16, phase);
                scores(stage);
                draw(t * OTHERS);
                products_wait<0>();
                settle(score);
                release(empty + stage * 16);
                if (TURNED) {
                    barrier_wait(full + stage * 16 + 8, phase);
                    Part part;
                    part.take(tile(stage, 1));
                    together();
                    part.put(tile(stage, 1));
                    written();
                }
                softmax(t * OTHERS);
                fades();
                rounded(weights, score);
                if (TURNED) {
                    together();
                } else {
                    barrier_wait(full + stage * 16 + 8, phase);
                }
                means(stage);
                products_wait<0>();
                settle(sum);
                release(empty + stage * 16 + 8);
            }
#endif
#pragma unroll
            for (int r = 0; r < 2; r++) {
                total[r] += __shfl_xor_sync(~0u, total[r], 1);
                total[r] += __shfl_xor_sync(~0u, total[r], 2);
                bool nothing = total[r] == 0;
                fade[r] = nothing ? 0.0f : 1 / total[r];
                float logarithm = nothing ? infinity() : top[r] * LN2 + logf(total[r]);
                if (lane % 4 == 0 && row + r * 8 < p.queries) p.sums_out[(u64)at.head * p.queries + row + r * 8] = logarithm;
                if (V_DROPOUT) fade[r] *= p.times;
            }
            fades();
#else
            float logarithm[2], mean[2];
#pragma unroll
            for (int r = 0; r < 2; r++) {
                bool inside = row + r * 8 < p.queries;
                logarithm[r] = inside ? p.sums[(u64)at.head * p.queries + row + r * 8] * LOG2E : infinity();
            }
            {
                u64 place = (u64)at.head * p.queries + query;
                bool inside = query < p.queries;
                float product = 0;
#pragma unroll
                for (int j = 0; j < PARTS; j++) {
                    u32 column = (lane % 2 * PARTS + j) * CHUNK, chunk = column / LINE;
                    if (inside && column < p.depth) {
                        uint4 of = means_of[j];
                        float4 words =
                            read16(mine_at + BYTES_OWN + chunk * ROWS * 128 + own_row * 128 + ((column % LINE / CHUNK ^ own_row % 8) << 4));
                        product += both(of.x, __float_as_uint(words.x), T()) + both(of.y, __float_as_uint(words.y), T()) +
                                   both(of.z, __float_as_uint(words.z), T()) + both(of.w, __float_as_uint(words.w), T());
                    }
                }
                product += __shfl_xor_sync(~0u, product, 1);
                if (inside && lane % 2 == 0) p.means[place] = product;
                mean[0] = __shfl_sync(~0u, product, lane / 4 * 2);
                mean[1] = __shfl_sync(~0u, product, lane / 4 * 2 + 16);
                if (V_DROPOUT) mean[0] *= p.stays, mean[1] *= p.stays;
            }
#pragma unroll 1
            for (u32 t = first; t < last; t++, met++) {
                const u32 stage = stage_of(met), phase = phase_of(met);
                barrier_wait(full + stage * 16, phase);
                barrier_wait(full + stage * 16 + 8, phase);
                float score[OTHERS / 2], back[OTHERS / 2];
                clear(score);
                clear(back);
                settle(score);
                settle(back);
                products_begin();
                rows_by_rows<OTHERS>(score, rows0, lines_k(stage, 0));
                products_commit();
                rows_by_rows<OTHERS>(back, rows1, lines_k(stage, 1));
                products_commit();
#if V_DROPOUT
                stay.draw(row, t * OTHERS, seeds, threshold);
#endif
                products_wait<1>();
                settle(score);
                if (!has_mask(p)) {
                    if (!whole(t * OTHERS)) leave_out<false>(score, p, row, t * OTHERS);
#pragma unroll
                    for (int i = 0; i < OTHERS / 2; i++) score[i] = power_of_two(fmaf(score[i], scale, -logarithm[i / 2 % 2]));
                }
#if V_MASKED
                if (has_mask(p)) {
                    add_mask<false>(score, p, at.head, row, t * OTHERS, scale);
#pragma unroll
                    for (int i = 0; i < OTHERS / 2; i++) score[i] = weight(score[i], logarithm[i / 2 % 2]);
                }
#endif
                products_wait<0>();
                settle(back);
                release(empty + stage * 16 + 8);
#if V_DROPOUT
#pragma unroll
                for (int i = 0; i < OTHERS / 2; i++) back[i] = stay.of(i) ? back[i] : 0.0f;
#endif
#pragma unroll
                for (int i = 0; i < OTHERS / 2; i++) back[i] = score[i] * (back[i] - mean[i / 2 % 2]);
                u32 flow[HELD];
                rounded(flow, back);
                if (TURNED) {
                    Part part;
                    part.take(tile(stage, 0));
                    together();
                    part.put(tile(stage, 0));
                    written();
                    together();
                }
                settle(sum);
                products_begin();
                held_by_others<D>(sum, flow, lines_n(stage, 0), T());
                products_commit();
                products_wait<0>();
                settle(sum);
                release(empty + stage * 16);
            }
#pragma unroll
            for (int i = 0; i < D / 2; i++) sum[i] *= gradient_scale;
#endif
            __syncwarp();
            pass(max(last, at.first), end);
            // The four warps have all read the group's rows.
            asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
            store(&argument<Flash>()->out[0], mine_at, at.row, at.head % heads, at.head / heads, mine, lane, sum);
#endif
            if (lane == 0) {
                taken<0>();
                barrier_arrive(own_empty + slot * 8);
            }
        }
    }
}
