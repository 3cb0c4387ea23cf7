// Which keys a query takes by where both stand: from so many before its own position, `behind`, to so many after it, `ahead`.
//
// Either may be negative, their sum is not; both are at most FAR, beyond which no position is, so that sums of these and of a position are i32.
#pragma once
#include "common.cuh"

// Some positions.
struct Range {
    u32 begin, end;

    // Of `all`, those from so far before some rows to so far after them.
    __device__ __forceinline__ Range(u32 row, u32 rows, i32 before, i32 after, u32 all) {
        begin = (u32)max((i32)row - before, 0);
        end = (u32)max(min((i32)(row + rows) + after, (i32)all), 0);
    }
    // Tiles of so many: the first, and one after the last.
    template <int TILE>
    __device__ __forceinline__ u32 first() const {
        return begin / TILE;
    }
    template <int TILE>
    __device__ __forceinline__ u32 last() const {
        return end > begin ? (end + TILE - 1) / TILE : first<TILE>();
    }
};

// Whether a query takes a key. Only keys and queries that there are may be asked about.
template <typename P>
__device__ __forceinline__ bool are_near(const P& p, u32 query, u32 key) {
    return key - query + (u32)p.behind <= (u32)p.behind + (u32)p.ahead;
}

// Whether all of some queries take all of some keys.
template <typename P>
__device__ __forceinline__ bool all_near(const P& p, u32 query, i32 queries, u32 key, i32 keys) {
    i32 apart = (i32)(key - query);
    return apart + (keys - 1) <= p.ahead && queries - 1 - apart <= p.behind;
}
