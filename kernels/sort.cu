// Sorting of lines [rows, length], digit by digit from the lowest one, stably: 8 bits of the key at a time.
//
// Lines that fit a block are sorted in shared memory, several short ones together. Of longer ones each pass counts the digits of every
// tile, sums the counts of each digit over the tiles, and moves the elements. An element's place among those of its tile is found
// as by Merrill and Grimshaw, "High performance and scalable radix sorting" (2011), with a vote for each bit of the digit. Nothing
// depends on the order in which blocks run. Integers are often small: what their keys differ in is found while digits are first counted, and a
// digit that all have alike has no pass. Of lines that fit a block and of which few elements are wanted, or one by its rank, the last of these is found
// digit by digit from the highest one, by counts of those that begin as it does, and what stands before it is sorted by itself.
#include "keys.cuh"

constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;
constexpr int EACH = 16;
constexpr int TILE = THREADS * EACH;
// Tiles of a line up to which who moves one adds up the counts of all.
enum : u32 { FEW_TILES = 16 };
// Of a digit: its bits, and how many there are.
constexpr int BITS = 8;
constexpr int DIGITS = 1 << BITS;
// The first elements of a line that are found without sorting it, at most: a thread has one of them.
enum : u32 { FEW = 256 };

struct Order {
    const U* x;       // elements; in passes after the first one they are read for their signs alone
    K* keys[2];       // where passes write keys and positions in turns, if these are not the result
    u32* at[2];
    i64* indices;     // the result, positions
    U* values;        // or elements
    u32* counts;      // [rows, digits, tiles]
    u32* totals;      // [rows, digits], where there are many tiles
    u64 rows, length;
    u64 count;        // elements of a line of the result
    u64 tiles;        // of a line
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
    else p.values[row * p.count + j] = has_two_signs(key, p.turn) ? p.x[row * p.length + at] : of_key(key, p.turn);
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

// The keys of a tile of a long line, and how many there are.
__device__ __forceinline__ u32 load(const Order& p, const K* keys, u64 row, u64 tile, K (&key)[EACH]) {
    u64 start = tile * TILE;
    u32 all = (u32)min((u64)TILE, p.length - start);
    u64 base = row * p.length + start;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 i = place(r);
        key[r] = LARGEST;
        if (i < all) key[r] = keys ? keys[base + i] : key_of(p.x[base + i], p.turn);
    }
    return all;
}

#if V_COUNT
// How often each digit is met in each tile.
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    if (p.wanted && !*p.wanted) return;
    // Of the first pass it is not known yet what keys differ in, and it is there.
    Pass pass = {};
    if (p.pass) {
        pass = pass_of(p);
        if (!pass.runs) return;
    }
    __shared__ u32 counts[WARPS][DIGITS];
    u64 row = blockIdx.x / p.tiles, tile = blockIdx.x - row * p.tiles;
    K key[EACH];
    u32 all = load(p, pass.keys, row, tile, key);
#if !V_FLOAT
    if (p.spread && !p.pass) {
        K first = key_of(p.x[0], p.turn), differ = 0;
#pragma unroll
        for (int r = 0; r < EACH; r++) differ |= place(r) < all ? key[r] ^ first : 0;
#pragma unroll
        for (u32 by = 16; by > 0; by /= 2) differ |= __shfl_xor_sync(0xffffffffu, differ, by);
        if (lane_of() == 0 && differ) atomicOr(p.spread, (u64)differ);
    }
#endif
    for (u32 d = lane_of(); d < DIGITS; d += 32) counts[warp_of()][d] = 0;
    __syncwarp();
    // In whatever order: that of elements is nobody's here.
#pragma unroll
    for (int r = 0; r < EACH; r++) atomicAdd(&counts[warp_of()][(u32)(key[r] >> (p.pass * BITS)) & 255], 1u);
    __syncthreads();
    u32 total = 0;
#pragma unroll
    for (int w = 0; w < WARPS; w++) total += counts[w][threadIdx.x];
    // What is not there was counted as the largest digit.
    if (threadIdx.x == DIGITS - 1) total -= TILE - all;
    p.counts[(row * DIGITS + threadIdx.x) * p.tiles + tile] = total;
}
#endif

#if V_SUM
// What stands before each tile of a digit's, and how many there are of the digit: a block for each digit of each line.
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    if (p.wanted && !*p.wanted || p.pass && !pass_of(p).runs) return;
    __shared__ u32 sums[2][WARPS];
    u32* counts = p.counts + (u64)blockIdx.x * p.tiles;
    u32 carry = 0;
    u32 turn = 0;
    for (u64 from = 0; from < p.tiles; from += THREADS) {
        u64 i = from + threadIdx.x;
        u32 mine = i < p.tiles ? counts[i] : 0;
        u32 before = sum_before(mine, sums[turn]);
        if (i < p.tiles) counts[i] = carry + before;
        for (u32 w = 0; w < WARPS; w++) carry += sums[turn][w];
        turn ^= 1;
    }
    if (threadIdx.x == 0) p.totals[blockIdx.x] = carry;
}
#endif

#if V_MOVE
// Brings the elements of each tile to their places in the line.
extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Order p) {
    if (p.wanted && !*p.wanted) return;
    Pass pass = pass_of(p);
    if (!pass.runs) return;
    __shared__ Ranks s;
    __shared__ u32 shifts[DIGITS];  // from a place in the sorted tile to that in the line
    __shared__ u32 sums[WARPS];
    __shared__ __align__(16) K keys[TILE];
    u64 row = blockIdx.x / p.tiles, tile = blockIdx.x - row * p.tiles;
    K key[EACH];
    u32 at[EACH], digit[EACH], to[EACH];
    u32 all = load(p, pass.keys, row, tile, key);
    u64 base = row * p.length + tile * TILE;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 i = place(r);
        at[r] = (u32)(tile * TILE) + i;
        if (pass.at && i < all) at[r] = pass.at[base + i];
        digit[r] = (u32)(key[r] >> (p.pass * BITS)) & 255;
    }
    rank(digit, to, s);
    u64 own = row * DIGITS + threadIdx.x;
    const u32* counts = p.counts + own * p.tiles;
    u32 total = 0, before = 0;
    if (p.totals) {
        total = p.totals[own];
        before = counts[tile];
    } else {
        for (u32 t = 0; t < (u32)p.tiles; t++) {
            u32 count = counts[t];
            if (t < (u32)tile) before += count;
            total += count;
        }
    }
    u32 start = sum_before(total, sums);
    shifts[threadIdx.x] = start + before - s.bases[threadIdx.x];
    exchange(key, to, keys);
    exchange(at, to, (u32*)keys);
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        u32 i = place(r);
        if (i < all) write(p, pass, row, (u32)(shifts[(u32)(key[r] >> (p.pass * BITS)) & 255] + i), key[r], at[r]);
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
