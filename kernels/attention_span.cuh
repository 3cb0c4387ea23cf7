// Which keys a query takes by where both stand, beside what a mask says: one range for each query, from so many before its own position, `behind`, to so many
// after it, `ahead`; or, where `ranges` is no null pointer, what lies there for it. A key has a range of queries then. Neither bound of a range is
// less than that of the row before, so that rows that follow each other meet what lies between the first one's first and the last one's last.
//
// Either of `behind` and `ahead` may be negative, their sum is not; both are at most FAR, beyond which no position is, so that a sum with a position is i32.
#pragma once
#include "common.cuh"

// Some positions of others: keys that queries take, or queries that take keys.
struct Range {
    u32 begin, end;

    __device__ __forceinline__ bool has(u32 at) const { return at - begin < end - begin; }
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

// What a row meets: a query of keys or, where rows are KEYS, a key of queries. Of a row that is not there: nothing.
template <bool KEYS, typename P>
__device__ __forceinline__ Range met_by(const P& p, u32 row) {
    u32 rows = KEYS ? p.keys : p.queries;
    i32 all = (i32)(KEYS ? p.queries : p.keys), before = KEYS ? p.ahead : p.behind, after = KEYS ? p.behind : p.ahead;
    if (row >= rows) return {(u32)all, (u32)all};
    if (p.ranges) {
        int2 range = p.ranges[row];
        return {(u32)range.x, (u32)range.y};
    }
    i32 begin = min(max((i32)row - before, 0), all);
    return {(u32)begin, (u32)max(begin, min((i32)row + 1 + after, all))};
}

// The same number, as if it were not known before: what is computed of it for a tile is not held in registers for all.
__device__ __forceinline__ u32 anew(u32 x) {
    asm volatile("" : "+r"(x));
    return x;
}

// What any of some rows meets, of which the first one is there, and what all of them meet; the latter of keys without an end where the last query is in it:
// queries that are not there weigh nothing.
template <bool KEYS, typename P>
__device__ __forceinline__ void met_by(const P& p, u32 row, u32 count, Range& any, Range& by_each) {
    Range first = met_by<KEYS>(p, row), last = met_by<KEYS>(p, min(row + count, KEYS ? p.keys : p.queries) - 1);
    any = {first.begin, last.end};
    by_each = {last.begin, KEYS && first.end == p.queries ? ~0u : first.end};
}
