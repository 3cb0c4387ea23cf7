// Sorting of lines [rows, length], digit by digit from the lowest one, stably: 8 bits of the key at a time.
//
// Lines that fit a block are sorted in shared memory, several short ones together: an element's place among those of its tile is found
// as by Merrill and Grimshaw, "High performance and scalable radix sorting" (2011), with a vote for each bit of the digit.
//
// Of longer lines the digits of all passes are counted at once, so that it is known where each digit begins. Then each pass reads and writes
// keys and positions once: a block has a tile, says how often it has each digit, and looks back at what the tiles before it said (Adinets and Merrill,
// "Onesweep: a faster least significant digit radix sort for GPUs", 2022). Tiles are taken in order, so that nobody waits for a block that has
// not begun; nothing else depends on the order in which blocks run. Integers are often small: what their keys differ in is found while digits
// are counted, and a digit that all have alike has no pass.
//
// Of lines that fit a block and of which few elements are wanted, or one by its rank, the last of these is found
// digit by digit from the highest one, by counts of those that begin as it does, and what stands before it is sorted by itself.
#include "keys.cuh"
#ifdef V_BOUND
#include "bounded.cuh"
#endif

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int EACH = 16;
constexpr int TILE = THREADS * EACH;
// Of longer lines: threads of a block, and bytes of the keys of a tile.
constexpr int SWEEPERS = 512;
constexpr int SWEPT = 32768;
// Of a digit: its bits, and how many there are.
constexpr int BITS = 8;
constexpr int DIGITS = 1 << BITS;
// The first elements of a line that are found without sorting it, at most: a thread has one of them.
enum : u32 { FEW = 256 };

struct Order {
    const U* x;       // elements; in passes after the first one they are read for their signs alone
    K* keys[2];       // where passes write keys (elements, if these are sorted alone) and positions in turns, if these are not the result
    u32* at[2];
    i64* indices;     // the result, positions
    U* values;        // or elements, or both
    u32* totals;      // how often a line has each digit, [rows, passes, digits]
    u32* begun;       // how many tiles were begun, of each pass
    u64* told;        // what tiles say of each digit, [rows, tiles, digits]
    u64 rows, length;
    u64 count;        // elements of a line of the result
    u64 tiles;        // of a line
    u64 counted;      // elements whose digits a block counts
    u64 turn;         // see keys.cuh
    u64 nan;          // the key of NaN
    u64* spread;      // bits in which keys differ, where that is asked
    u32 pass;         // number of the digit, from the lowest
    u32 passes;       // how many there are
    u32 keeps;        // whether the last pass writes keys and positions, too
    u32 together;     // lines that a block has
    u32 which;        // what is picked, or LINE: the first elements
    u32 floats;       // whether there is NaN
    const u32* wanted;  // where it is known whether a pass is to do anything
};
// What is picked of a sorted line.
enum : u32 { NTH = 0, MEDIAN = 1, NAN_MEDIAN = 2, MODE = 3, LINE = 4 };

__device__ __forceinline__ u32 lane_of() { return threadIdx.x & 31; }
__device__ __forceinline__ u32 warp_of() { return threadIdx.x >> 5; }
// The place in a tile of a thread's `r`-th element: warps have parts of their own, one after the other.
__device__ __forceinline__ u32 place(int r) { return warp_of() * (32 * EACH) + r * 32 + lane_of(); }

// Counts a digit of each lane. Answers with how many of the same came before: earlier ones of the warp, and of lanes below.
__device__ __forceinline__ u32 counted(u32 digit, u32* counts) {
    u32 peers = 0xffffffffu;
#pragma unroll
    for (int b = 0; b < BITS; b++) {
        bool one = digit >> b & 1;
        u32 ones = __ballot_sync(0xffffffffu, one);
        peers &= one ? ones : ~ones;
    }
    u32 below = __popc(peers & ((1u << lane_of()) - 1));
    u32 before = counts[digit];
    __syncwarp();
    if (below == 0) counts[digit] = before + __popc(peers);
    __syncwarp();
    return before + below;
}

// The sum over all threads before this one. `sums` are WARPS words that nobody else uses until the next barrier.
__device__ __forceinline__ u32 sum_before(u32 mine, u32* sums) {
    u32 sum = mine;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        u32 other = __shfl_up_sync(0xffffffffu, sum, by);
        if (lane_of() >= by) sum += other;
    }
    if (lane_of() == 31) sums[warp_of()] = sum;
    __syncthreads();
    u32 before = 0;
    for (u32 w = 0; w < warp_of(); w++) before += sums[w];
    return before + sum - mine;
}

struct Ranks {
    u32 counts[WARPS][DIGITS];
    u32 bases[DIGITS];  // where each digit begins in the tile
    u32 sums[WARPS];
};

// Places of a tile's elements in the order of their digits.
__device__ __forceinline__ void rank(const u32 (&digit)[EACH], u32 (&to)[EACH], Ranks& s) {
    u32 warp = warp_of();
    for (u32 d = lane_of(); d < DIGITS; d += 32) s.counts[warp][d] = 0;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < EACH; r++) to[r] = counted(digit[r], s.counts[warp]);
    __syncthreads();
    u32 total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) {
        u32 count = s.counts[w][threadIdx.x];
        s.counts[w][threadIdx.x] = total;
        total += count;
    }
    u32 base = sum_before(total, s.sums);
    s.bases[threadIdx.x] = base;
#pragma unroll
    for (int w = 0; w < WARPS; w++) s.counts[w][threadIdx.x] += base;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < EACH; r++) to[r] += s.counts[warp][digit[r]];
}

// Brings a tile's elements to their places.
template <typename V>
__device__ __forceinline__ void exchange(V (&v)[EACH], const u32 (&to)[EACH], V* tile) {
    __syncthreads();
#pragma unroll
    for (int r = 0; r < EACH; r++) tile[to[r]] = v[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < EACH; r++) v[r] = tile[place(r)];
}

// What a pass reads and writes: keys and positions, or in the first one the elements, in the last one the result.
struct Pass {
    bool runs;
    const K* keys;
    const u32* at;
    K* keys_out;
    u32* at_out;
};

__device__ __forceinline__ Pass pass_of(const Order& p) {
    // The lowest digit has a pass in any case.
    u64 spread = p.spread ? *p.spread | 1 : ~0ull;
    u32 before = 0;
    for (u32 n = 0; n < p.pass; n++) before += (spread >> (n * BITS) & (DIGITS - 1)) != 0;
    bool more = p.pass + 1 < p.passes && spread >> ((p.pass + 1) * BITS);
    Pass pass = {};
    pass.runs = p.pass < p.passes && (spread >> (p.pass * BITS) & (DIGITS - 1)) != 0;
    if (before) {
        pass.keys = before & 1 ? p.keys[0] : p.keys[1];
        pass.at = before & 1 ? p.at[0] : p.at[1];
    }
    if (more || p.keeps) {
        pass.keys_out = before & 1 ? p.keys[1] : p.keys[0];
        pass.at_out = before & 1 ? p.at[1] : p.at[0];
    }
    return pass;
}

// Writes an element to place `j` of its line.
__device__ __forceinline__ void write(const Order& p, const Pass& pass, u64 row, u64 j, K key, u32 at) {
    if (pass.keys_out) {
        pass.keys_out[row * p.length + j] = key;
        pass.at_out[row * p.length + j] = at;
        return;
    }
    if (j >= p.count) return;
    if (p.indices) p.indices[row * p.count + j] = at;
    if (p.values) p.values[row * p.count + j] = has_two_signs(key, p.turn) ? p.x[row * p.length + at] : of_key(key, p.turn);
}

#if V_BLOCK
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    __shared__ Ranks s;
    __shared__ __align__(16) K tile[TILE];
    Pass pass = {};
    if (p.keeps) pass.keys_out = p.keys[0], pass.at_out = p.at[0];
    u64 first = (u64)blockIdx.x * p.together;
    u32 lines = (u32)min((u64)p.together, p.rows - first);
    u32 length = (u32)p.length, all = lines * length;
    K key[EACH];
    u32 at[EACH], digit[EACH], to[EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        at[r] = place(r);
        // What is not there comes last: its key is the largest, and it stands behind all.
        key[r] = at[r] < all ? key_of(p.x[first * length + at[r]], p.turn) : LARGEST;
    }
    for (int shift = 0; shift < 8 * BYTES; shift += 8) {
#pragma unroll
        for (int r = 0; r < EACH; r++) digit[r] = (u32)(key[r] >> shift) & 255;
        rank(digit, to, s);
        exchange(key, to, tile);
        exchange(at, to, (u32*)tile);
    }
    if (lines > 1) {
#pragma unroll
        for (int r = 0; r < EACH; r++) digit[r] = at[r] < all ? at[r] / length : 255;
        rank(digit, to, s);
        exchange(key, to, tile);
        exchange(at, to, (u32*)tile);
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 i = place(r);
        if (i >= all) continue;
        u32 line = i / length;
        write(p, pass, first + line, i - line * length, key[r], at[r] - line * length);
    }
}
#endif

#if V_COUNT
// How often each digit of each pass is met in a part of a line, added to what is met in the others.
extern "C" __global__ void __launch_bounds__(SWEEPERS) V_NAME(const __grid_constant__ Order p) {
    if (p.wanted && !*p.wanted) return;
    // Neighbouring warps count for themselves: fewer meet at a word.
    constexpr u32 COPIES = 4;
    __shared__ u32 counts[BYTES][COPIES][DIGITS];
    for (u32 i = threadIdx.x; i < sizeof counts / sizeof(u32); i += SWEEPERS) (&counts[0][0][0])[i] = 0;
    __syncthreads();
    u64 parts = (p.length + p.counted - 1) / p.counted;
    u64 row = blockIdx.x / parts, start = (blockIdx.x - row * parts) * p.counted;
    u32 all = (u32)min(p.counted, p.length - start);
    const U* x = p.x + row * p.length + start;
    u32 copy = warp_of() % COPIES;
    K differ = 0;
#if !V_FLOAT
    K first = key_of(p.x[0], p.turn);
#endif
#pragma unroll 8
    for (u32 i = threadIdx.x; i < all; i += SWEEPERS) {
        K key = key_of(x[i], p.turn);
#if !V_FLOAT
        differ |= key ^ first;
#endif
#pragma unroll
        for (int d = 0; d < BYTES; d++)
            if (d < (int)p.passes) atomicAdd(&counts[d][copy][(u32)(key >> (d * BITS)) & (DIGITS - 1)], 1u);
    }
#if !V_FLOAT
    if (p.spread) {
        __syncwarp();
#pragma unroll
        for (u32 by = 16; by > 0; by /= 2) differ |= __shfl_xor_sync(0xffffffffu, differ, by);
        if (lane_of() == 0 && differ) atomicOr(p.spread, (u64)differ);
    }
#endif
    __syncthreads();
    for (u32 i = threadIdx.x; i < p.passes * DIGITS; i += SWEEPERS) {
        u32 count = 0;
#pragma unroll
        for (u32 c = 0; c < COPIES; c++) count += counts[i / DIGITS][c][i % DIGITS];
        if (count) atomicAdd(p.totals + row * p.passes * DIGITS + i, count);
    }
}
#endif

#if V_SWEEP || V_ALONE
// Whether elements are moved without their positions: as they are, with the signs of zeros.
#if V_ALONE
constexpr bool ALONE = true;
using Moved = U;
__device__ __forceinline__ K key_of_moved(Moved moved, u64 turn) { return key_of(moved, turn); }
#else
constexpr bool ALONE = false;
using Moved = K;
__device__ __forceinline__ K key_of_moved(Moved moved, u64) { return moved; }
#endif
constexpr int KEYS = SWEPT / (SWEEPERS * sizeof(K));
constexpr int SWEEP = SWEEPERS * KEYS;
constexpr int SWEEP_WARPS = SWEEPERS / 32;

// What a tile says of a digit: how many it has, or how many the tiles up to its end have; the pass stands above it, since the next one overwrites.
constexpr int TAG = 48;
__device__ __forceinline__ u64 of_tile(u32 pass) { return (u64)(2 * pass + 1) << TAG; }
__device__ __forceinline__ u64 of_all(u32 pass) { return (u64)(2 * pass + 2) << TAG; }
__device__ __forceinline__ void tell(u64* place, u64 word) { asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(place), "l"(word)); }
__device__ __forceinline__ u64 told(const u64* place) {
    u64 word;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(place));
    return word;
}

// How many of a digit the tiles before this one have.
__device__ __forceinline__ u32 look_back(const u64* line, u64 tile, u32 pass) {
    u32 before = 0;
#ifdef V_BOUND
    u64 begin = nanoseconds();
#endif
    while (tile > 0) {
        u64 word = told(line + (tile - 1) * DIGITS);
#ifdef V_BOUND
        if (nanoseconds() - begin > V_BOUND) stuck(__FILE__, __LINE__, __func__, "what the tile before has of a digit", nullptr, (u32)tile, pass, word);
#endif
        if (word < of_tile(pass)) continue;
        before += (u32)word;
        if (word >= of_all(pass)) break;
        tile--;
    }
    return before;
}

// A pass: brings the elements of each tile to their places in the line.
extern "C" __global__ void __launch_bounds__(SWEEPERS, 2) V_NAME(const __grid_constant__ Order p) {
    if (p.wanted && !*p.wanted) return;
    Pass pass = pass_of(p);
    if (!pass.runs) return;
    __shared__ __align__(16) union {
        struct {
            u32 counts[SWEEP_WARPS][DIGITS];
            u32 lanes[SWEEP_WARPS][DIGITS];  // which lanes have a digit
        } ranks;
        Moved moved[SWEEP];
        u32 at[SWEEP];
    } s;
    __shared__ u32 shifts[DIGITS];  // from a place in the sorted tile to that in the line
    __shared__ u32 sums[2][DIGITS / 32];
    __shared__ u32 begun;
    u32 warp = warp_of(), lane = lane_of(), thread = threadIdx.x;
    if (thread == 0) begun = atomicAdd(p.begun + p.pass, 1u);
    for (u32 i = thread; i < sizeof s.ranks / sizeof(u32); i += SWEEPERS) (&s.ranks.counts[0][0])[i] = 0;
    __syncthreads();
    u64 row = begun / p.tiles, tile = begun - row * p.tiles;
    u64 start = tile * SWEEP, base = row * p.length + start;
    u32 all = (u32)min((u64)SWEEP, p.length - start);
    int shift = p.pass * BITS;
    auto digit_of = [&](Moved moved) { return (u32)(key_of_moved(moved, p.turn) >> shift) & (DIGITS - 1); };
    // Warps have parts of their own, one after the other. What is not there comes last: it has the largest digit, and stands behind all.
    u32 own = warp * (32 * KEYS) + lane;
    Moved moved[KEYS];
    const Moved* from = (const Moved*)pass.keys;
#pragma unroll
    for (int r = 0; r < KEYS; r++) {
        u32 i = own + r * 32;
        moved[r] = 0;
        if (i >= all) continue;
        if (from) moved[r] = from[base + i];
        else moved[r] = ALONE ? (Moved)p.x[base + i] : (Moved)key_of(p.x[base + i], p.turn);
    }
    auto digit_at = [&](int r) { return own + r * 32 < all ? digit_of(moved[r]) : DIGITS - 1; };
#pragma unroll
    for (int r = 0; r < KEYS; r++) atomicAdd(&s.ranks.counts[warp][digit_at(r)], 1u);
    __syncthreads();
    // A thread has a digit: how many there are in the warps before each one, in the tile, and in the line.
    u32 count = 0, met = 0, line = 0;
    u64* says = p.told + row * p.tiles * DIGITS + thread;
    if (thread < DIGITS) {
#pragma unroll
        for (int w = 0; w < SWEEP_WARPS; w++) {
            u32 more = s.ranks.counts[w][thread];
            s.ranks.counts[w][thread] = count;
            count += more;
        }
        // What is not there was counted as the largest digit.
        met = count - (thread == DIGITS - 1 ? SWEEP - all : 0);
        tell(says + tile * DIGITS, (tile ? of_tile(p.pass) : of_all(p.pass)) | met);
        line = p.totals[(row * p.passes + p.pass) * DIGITS + thread];
    }
    // Where the digit begins in the tile, and in the line.
    u32 in_tile = count, in_line = line;
#pragma unroll
    for (u32 by = 1; by < 32; by *= 2) {
        u32 a = __shfl_up_sync(0xffffffffu, in_tile, by), b = __shfl_up_sync(0xffffffffu, in_line, by);
        if (lane >= by) in_tile += a, in_line += b;
    }
    if (thread < DIGITS && lane == 31) sums[0][warp] = in_tile, sums[1][warp] = in_line;
    __syncthreads();
    in_tile -= count, in_line -= line;
    if (thread < DIGITS) {
        for (u32 w = 0; w < warp; w++) in_tile += sums[0][w], in_line += sums[1][w];
#pragma unroll
        for (int w = 0; w < SWEEP_WARPS; w++) s.ranks.counts[w][thread] += in_tile;
    }
    __syncthreads();
    // Lanes with one digit find each other by a word of it; the last of them counts all.
    // Two places of a tile are one register.
    u32 places[KEYS / 2];
    auto to = [&](int r) { return r % 2 ? places[r / 2] >> 16 : places[r / 2] & 0xffff; };
#pragma unroll
    for (int r = 0; r < KEYS; r++) {
        u32 digit = digit_at(r);
        u32* lanes = &s.ranks.lanes[warp][digit];
        atomicOr(lanes, 1u << lane);
        __syncwarp();
        u32 peers = *lanes;
        __syncwarp();
        u32 last = 31 - __clz(peers), before = 0;
        if (lane == last) before = atomicAdd(&s.ranks.counts[warp][digit], (u32)__popc(peers)), *lanes = 0;
        u32 place = __shfl_sync(0xffffffffu, before, last) + __popc(peers & ((1u << lane) - 1));
        places[r / 2] = r % 2 ? places[r / 2] | place << 16 : place;
        __syncwarp();
    }
    if (thread < DIGITS) {
        u32 before = look_back(says, tile, p.pass);
        if (tile) tell(says + tile * DIGITS, of_all(p.pass) | (u64)(before + met));
        shifts[thread] = in_line + before - in_tile;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < KEYS; r++) s.moved[to(r)] = moved[r];
    u32 at[KEYS];
#pragma unroll
    for (int r = 0; r < KEYS && !ALONE; r++) {
        u32 i = own + r * 32;
        at[r] = (u32)start + i;
        if (pass.at && i < all) at[r] = pass.at[base + i];
    }
    __syncthreads();
    Moved* out = (Moved*)pass.keys_out;
#pragma unroll
    for (int r = 0; r < KEYS; r++) {
        u32 i = r * SWEEPERS + thread;
        moved[r] = s.moved[i];
        if (i >= all) continue;
        u32 j = shifts[digit_of(moved[r])] + i;
        if (out) out[row * p.length + j] = moved[r], moved[r] = (Moved)j;
        else if (ALONE && j < p.count) p.values[row * p.count + j] = (U)moved[r];
    }
    if (ALONE) return;
    __syncthreads();
#pragma unroll
    for (int r = 0; r < KEYS; r++) s.at[to(r)] = at[r];
    __syncthreads();
#pragma unroll
    for (int r = 0; r < KEYS; r++) {
        u32 i = r * SWEEPERS + thread;
        if (i >= all) continue;
        // Where there is no result yet, the place was kept in the key's stead.
        if (out) pass.at_out[row * p.length + (u32)moved[r]] = s.at[i];
        else write(p, pass, row, shifts[digit_of(moved[r])] + i, (K)moved[r], s.at[i]);
    }
}
#endif

#if V_SELECT
// How many threads' elements, in order of places, have something before a thread's own: of each of its elements, `before`, and of all, the result.
__device__ __forceinline__ u32 ordered(const bool (&has)[EACH], u32 (&before)[EACH], u32* sums) {
    u32 count = 0;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 all = __ballot_sync(0xffffffffu, has[r]);
        before[r] = count + __popc(all & ((1u << lane_of()) - 1));
        count += __popc(all);
    }
    __syncthreads();
    if (lane_of() == 0) sums[warp_of()] = count;
    __syncthreads();
    u32 base = 0, total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        if (w < warp_of()) base += sums[w];
        total += sums[w];
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) before[r] += base;
    return total;
}

// The first elements of a line in order, or one by its rank.
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    __shared__ u32 counts[DIGITS];
    __shared__ u32 sums[WARPS];
    __shared__ u32 chosen[3];  // a digit, what stands before it, how many have it
    __shared__ K keys[FEW];
    __shared__ u32 places[FEW];
    u64 row = blockIdx.x;
    u32 all = (u32)p.length;
    K key[EACH];
    u32 before[EACH];
    bool has[EACH];
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 i = place(r);
        key[r] = i < all ? key_of(p.x[row * p.length + i], p.turn) : LARGEST;
    }
    u32 rank = (u32)p.count;
    if (p.which == LINE) rank--;
    if (p.which == MEDIAN || p.which == NAN_MEDIAN) {
        u32 numbers = all;
        if (p.floats) {
#pragma unroll
            for (int r = 0; r < EACH; r++) has[r] = place(r) < all && key[r] < (K)p.nan;
            numbers = ordered(has, before, sums);
        }
        rank = ((numbers > 0 ? numbers : 1) - 1) / 2;
        if (p.which == MEDIAN && numbers < all) rank = numbers;
    }
    // The key of that rank, as far as it is known, and which of those that have it is looked for.
    K known = 0, mask = 0;
    for (int shift = 8 * BYTES - BITS; shift >= 0; shift -= BITS) {
        __syncthreads();
        counts[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < EACH; r++)
            if (place(r) < all && (key[r] & mask) == known) atomicAdd(&counts[(u32)(key[r] >> shift) & 255], 1u);
        __syncthreads();
        u32 count = counts[threadIdx.x];
        u32 less = sum_before(count, sums);
        if (less <= rank && rank < less + count) chosen[0] = threadIdx.x, chosen[1] = less, chosen[2] = count;
        __syncthreads();
        known |= (K)chosen[0] << shift;
        mask |= (K)255 << shift;
        rank -= chosen[1];
        if (chosen[2] == 1) break;
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) has[r] = place(r) < all && (key[r] & mask) == known;
    ordered(has, before, sums);
    if (p.which != LINE) {
#pragma unroll
        for (int r = 0; r < EACH; r++)
            if (has[r] && before[r] == rank) p.indices[row] = place(r);
        return;
    }
    // Those before it, and of its like those that stand before it.
#pragma unroll
    for (int r = 0; r < EACH; r++) has[r] = place(r) < all && (key[r] & mask) < known || has[r] && before[r] <= rank;
    ordered(has, before, sums);
#pragma unroll
    for (int r = 0; r < EACH; r++)
        if (has[r]) keys[before[r]] = key[r], places[before[r]] = place(r);
    __syncthreads();
    u32 few = (u32)p.count;
    if (threadIdx.x >= few) return;
    K own = keys[threadIdx.x];
    u32 to = 0;
    for (u32 i = 0; i < few; i++) to += keys[i] < own || keys[i] == own && i < threadIdx.x;
    p.indices[row * p.count + to] = places[threadIdx.x];
}
#endif

#if V_PICK
// One position of each sorted line: a block for each.
// The first element whose key is not smaller.
__device__ __forceinline__ u64 lower(const K* keys, u64 n, K key) {
    u64 low = 0;
    while (n > 0) {
        u64 half = n / 2;
        bool before = keys[low + half] < key;
        low = before ? low + half + 1 : low;
        n = before ? n - half - 1 : half;
    }
    return low;
}

extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    // As if there were one pass more.
    Pass pass = pass_of(p);
    const K* keys = pass.keys + (u64)blockIdx.x * p.length;
    const u32* at = pass.at + (u64)blockIdx.x * p.length;
    u64 n = p.length;
    u64 numbers = p.floats ? lower(keys, n, (K)p.nan) : n;
    if (p.which <= NAN_MEDIAN) {
        u64 j = p.count;
        if (p.which != NTH) j = ((numbers > 0 ? numbers : 1) - 1) / 2;
        if (p.which == MEDIAN && numbers < n) j = numbers;
        if (threadIdx.x == 0) p.indices[blockIdx.x] = at[j];
        return;
    }
    // The longest run, the first of several; NaN is equal to nothing.
    __shared__ u64 lengths[THREADS], ends[THREADS];
    u64 best = 0, end = 0;
    for (u64 i = threadIdx.x; i < n; i += THREADS) {
        u64 length = 1;
        if (i < numbers) {
            if (i + 1 < numbers && keys[i + 1] == keys[i]) continue;
            length = i + 1 - lower(keys, i, keys[i]);
        }
        if (length > best) best = length, end = i;
    }
    lengths[threadIdx.x] = best, ends[threadIdx.x] = end;
    __syncthreads();
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            u64 other = lengths[threadIdx.x + half], other_end = ends[threadIdx.x + half];
            bool longer = other > lengths[threadIdx.x] || (other == lengths[threadIdx.x] && other_end < ends[threadIdx.x]);
            if (longer) lengths[threadIdx.x] = other, ends[threadIdx.x] = other_end;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) p.indices[blockIdx.x] = at[ends[0]];
}
#endif
