// Which weights of attention stay where some are left out at random: those whose number, of 16 bits, is at least so large. Of eight neighbouring keys of a query
// the numbers are the halves of one block of Philox4x32-10 (docs/random.md): the lower halves of its words, in order, then the upper ones. The block's counter
// is the number of these eight, the query's position, and the two words that were drawn for the head; its key is 0, so keys of rounds are literals.
#pragma once
#include "common.cuh"

// The words of a head, which lie as the lower halves of two integers.
struct Seeds {
    u32 low, high;

    __device__ __forceinline__ Seeds(const void* seeds, u32 head) {
        const u32* at = (const u32*)seeds + (u64)head * 4;
        low = at[0];
        high = at[2];
    }
};

// The block of a query's keys from eight times `eighth` on.
__device__ __forceinline__ void thin_block(u32 (&c)[4], u32 eighth, u32 query, const Seeds& seeds) {
    c[0] = eighth, c[1] = query, c[2] = seeds.low, c[3] = seeds.high;
    u32 k0 = 0, k1 = 0;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        u64 p0 = (u64)c[0] * 0xD2511F53u, p1 = (u64)c[2] * 0xCD9E8D57u;
        u32 x = (u32)(p1 >> 32) ^ c[1] ^ k0, y = (u32)(p0 >> 32) ^ c[3] ^ k1;
        c[0] = x, c[1] = (u32)p1, c[2] = y, c[3] = (u32)p0;
        k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
}

// Numbers of 16 bits are compared with the least that stays, two a word: the highest bits of both halves say which are as large. By the borrow of what is below them where
// their own highest bits do not decide it already.
struct Threshold {
    u32 below, first;

    __device__ __forceinline__ explicit Threshold(u32 least) {
        below = (least & 0x7fff) * 0x10001u;
        first = least < 0x8000 ? 0x80008000u : 0;
    }
    __device__ __forceinline__ u32 of(u32 word) const {
        u32 difference = (word | 0x80008000u) - below;
        return (word & difference | first & (word | difference)) & 0x80008000u;
    }
};
