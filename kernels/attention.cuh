// What the kernels of attention and of its gradient share: their one argument, and the order of their blocks.
#pragma once
#include "attention_span.cuh"
#include "common.cuh"

enum AttentionFlags : u32 {
    // Rows of the tensor are aligned to 16 bytes.
    QUERIES_ALIGNED = 1,
    KEYS_ALIGNED = 2,
    VALUES_ALIGNED = 4,
    FLOWS_ALIGNED = 8,    // what flows back, and the means
    RESULTS_ALIGNED = 16,
};

// The argument. Heads lie one after the other: of queries `heads` for each of the
// batch, of keys and values `shared`, which divides them.
template <typename T, typename W>
struct Attention {
    T* out;          // means, or gradients of queries
    T* dk;
    T* dv;
    W* sums_out;     // logarithms of sums
    W* means_out;    // products of means and what flows back
    const T* q;
    const T* k;
    const T* v;
    const void* mask;
    const T* y;
    const T* g;
    const W* sums;
    const W* means;
    u64 mask_batch, mask_head, mask_row;  // steps of the mask
    double scale;
    u32 heads, shared;   // of queries; of keys and values
    u32 queries, keys, width, depth;
    u32 mask_kind;       // none, truth values, numbers
    u32 last_first;      // whether the last queries take the most keys
    i32 behind, ahead;   // which keys a query takes: see `met_by`
    u32 blocks;          // of queries (or keys) of a head
    u32 chunks;          // of columns
    u64 rows;            // of all heads
    u32 flags;
    u32 all;             // heads that have blocks
    u32 together;        // of these, how many take turns in the order of blocks
    u32 left_out;        // weights with lower numbers are left out at random: `thin.cuh`
    float* parts;        // of few queries: what the blocks of a head have come to
    u32* tickets;
    // Of the batch, of heads and of rows, in elements, which lie side by side along a row.
    u64 q_steps[3], k_steps[3], v_steps[3], y_steps[3], g_steps[3];
    u64 out_steps[3], dk_steps[3], dv_steps[3];
    const void* seeds;   // of heads of queries, where some are left out
    const int2* ranges;  // of rows that a block has itself, where `behind` and `ahead` do not say what these meet
    double times;        // what those that stay are multiplied by
};

// How far from the first one a row of a head begins, of what has so many heads in each of the batch.
__device__ __forceinline__ u64 row_at(const u64 (&steps)[3], u32 heads, u32 head, u32 row) {
    return head / heads * steps[0] + head % heads * steps[1] + row * steps[2];
}

// The head of keys and values that one of queries has.
template <typename P>
__device__ __forceinline__ u32 shared_head(const P& p, u32 head) {
    return head / p.heads * p.shared + head % p.heads / (p.heads / p.shared);
}

// Where a block stands. Heads that take turns have their first blocks first, all of them: where these take longest, none of them is
// begun last, and keys of so many heads stay in the cache.
struct AttentionPlace {
    u32 chunk, head, block;

    template <typename P>
    __device__ __forceinline__ AttentionPlace(const P& p) {
        u32 id = blockIdx.x / p.chunks;
        chunk = blockIdx.x - id * p.chunks;
        u32 each = p.together * p.blocks, first = id / each * p.together;
        u32 here = min(p.together, p.all - first);
        id -= first * p.blocks;
        block = id / here;
        head = first + id - block * here;
    }
};
