// Tiles of the operands in shared memory, brought there by asynchronous copies, in several stages.
//
// A block's threads may be several groups. Each multiplies every so manyth stage of k by itself, with stages of its own; their
// sums are added before the store. So a small tile has many warps, and they do not wait for one another.
#pragma once
#include "matmul.cuh"

// How the 16-byte chunks of a line are exchanged so that those that are read together lie in different banks.
enum Swizzle {
    PLAIN,      // read along the line
    BY_ROW,     // eight neighbouring lines are read at one chunk (ldmatrix)
    BY_FOURTH,  // lines four apart are read at one chunk
    BY_PAIR,    // four neighbouring lines are read at two neighbouring chunks
};

// A tile of `LINES` lines of `LENGTH` elements. Lines are what is contiguous: rows of k, or of m or n.
template <typename T, int LINES, int LENGTH, Swizzle SWIZZLE>
struct Tile {
    static constexpr int CHUNK = 16 / sizeof(T);
    static constexpr int CHUNKS = LENGTH / CHUNK;
    static constexpr int BYTES = LINES * LENGTH * sizeof(T);

    // Lines after which chunks are exchanged in the same way again.
    static constexpr int MASK = (CHUNKS < 8 ? CHUNKS : 8) - 1;
    static constexpr int PERIOD = SWIZZLE == PLAIN       ? 1
                                  : SWIZZLE == BY_PAIR   ? 4
                                  : SWIZZLE == BY_FOURTH ? 32
                                                         : 8;

    // The byte at which chunk `c` of a line lies.
    static __device__ __forceinline__ u32 chunk(u32 line, u32 c) {
        u32 x = 0;
        if (SWIZZLE == BY_ROW) x = (CHUNKS >= 8 ? line : CHUNKS == 4 ? line >> 1 : line >> 2) & MASK;
        if (SWIZZLE == BY_FOURTH) x = (line >> 2) & MASK;
        if (SWIZZLE == BY_PAIR) x = (line & 3) * 2;
        // Lines sixteen apart stand at different halves of the banks.
        if (SWIZZLE == BY_FOURTH && CHUNKS == 4) line ^= line >> 4 & 1;
        return line * (LENGTH * (u32)sizeof(T)) + (c ^ x) * 16;
    }
    static __device__ __forceinline__ u32 element(u32 line, u32 i) {
        return chunk(line, i / CHUNK) + i % CHUNK * (u32)sizeof(T);
    }
};

// Waits for the other threads of a group of `THREADS`; a block has `GROUPS` of them.
template <int THREADS, int GROUPS>
__device__ __forceinline__ void group_sync(u32 group) {
    if (GROUPS == 1) {
        __syncthreads();
    } else if (THREADS == 32) {
        __syncwarp();
    } else {
        asm volatile("bar.sync %0, %1;" ::"r"(group + 1), "n"(THREADS) : "memory");
    }
}

// Brings tiles from memory, stage after stage. K_LINES: lines run along k and there is one for each row of the operand (its m
// or n); else lines run along m or n and there is one for each k.
//
// ANY: no stride and no address is asked to be aligned or 1. Elements are copied one by one, to lines of either kind.
//
// Rows beyond the operand's need not be written: what stands there adds up to sums that nobody stores.
template <typename T, typename TILE, int LINES, int LENGTH, bool K_LINES, bool ANY, int THREADS>
struct Loader {
    static constexpr int CHUNK = TILE::CHUNK;
    static constexpr int CHUNKS = TILE::CHUNKS;
    static constexpr int STEP = ANY ? 8 : THREADS / CHUNKS;  // lines (ANY: of k) from one copy of a thread to its next
    static constexpr int COPIES = ANY ? 0 : (LINES + STEP - 1) / STEP;
    static constexpr u32 ROWS = K_LINES ? LINES : LENGTH, DEPTH = K_LINES ? LENGTH : LINES;
    static_assert(ANY || (THREADS % CHUNKS == 0 && (LINES % STEP == 0 || LINES < STEP)), "");
    static constexpr u32 SPACING = STEP * LENGTH * sizeof(T);
    // Whether lines that one thread copies are a period of the exchange of chunks apart.
    static constexpr bool ALIKE = STEP % TILE::PERIOD == 0;

    const char* from;  // this thread's first line of the stage that is copied next
    i64 step, next;    // bytes to the thread's next line, and to the next stage
    u32 edge;          // rows of the operand from this tile's first on
    u32 line, chunk;   // this thread's first
    u32 place;         // of it, in the tile
    i64 row;           // bytes to the next row

    // `thread` is the number of this one among the THREADS that bring the tile; stages are `depth` apart.
    __device__ __forceinline__ Loader(const T* base, i64 row_stride, i64 k_stride, u32 rows, u32 row0, u32 k0, u32 thread,
                                      int depth) {
        constexpr i64 SIZE = sizeof(T);
        edge = rows - row0;
        base += (i64)row0 * row_stride + (i64)k0 * k_stride;
        row = row_stride * SIZE;
        line = ANY ? thread / 8 : thread / CHUNKS;
        chunk = ANY ? thread % 8 : thread % CHUNKS;
        if (ANY) {
            // Eight neighbours in k of four rows a warp.
            base += (i64)line * row_stride + (i64)chunk * k_stride;
            step = k_stride * (8 * SIZE);
        } else {
            i64 line_stride = K_LINES ? row_stride : k_stride;
            place = TILE::chunk(line, chunk);
            base += (i64)line * line_stride + chunk * CHUNK;
            step = line_stride * (STEP * SIZE);
        }
        next = k_stride * (depth * SIZE);
        from = (const char*)base;
    }

    // For loops that are short of registers: see `held`.
    __device__ __forceinline__ void hold() {
        if (ANY) return;
        place = held(place);
        step = held(step);
        next = held(next);
    }

    // Whether a stage of which so much of k is left is copied by `part`, else by `slow`.
    __device__ __forceinline__ bool fast(i32 left) const { return !ANY && edge >= ROWS && left >= (i32)DEPTH; }

    // One part of `PARTS` of a stage that lies within the operand; the last part last.
    template <int PARTS>
    __device__ __forceinline__ void part(u32 to, int part) {
#pragma unroll
        for (int i = 0; i < COPIES; i++)
            if (i * PARTS / (COPIES ? COPIES : 1) == part) {
                u32 at = to + (ALIKE ? place + i * SPACING : TILE::chunk(line + i * STEP, chunk));
                if (LINES % STEP == 0 || line + i * STEP < LINES) copy16(at, from + i * step);
            }
        if (part == PARTS - 1) from += next;
    }

    // Any stage; `left` may be less than its depth.
    __device__ __forceinline__ void slow(u32 to, i32 left) {
        if (ANY) {
            constexpr u32 APART = THREADS / 8;
            constexpr int COUNT = ROWS / APART;
            static_assert(!ANY || ROWS % APART == 0, "");
            const char* q = from;
#pragma unroll 1
            for (u32 k = chunk; k < DEPTH; k += 8) {
                bool inside = (i32)k < left;
                const char* p = q;
                u16 bits[COUNT];
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    u32 r = line + i * APART;
                    if (sizeof(T) == 4) {
                        u32 at = to + (K_LINES ? TILE::element(r, k) : TILE::element(k, r));
                        if (r < edge) copy4(at, inside ? p : from, inside ? 4 : 0);
                    } else {
                        bits[i] = inside && r < edge ? *(const u16*)p : (u16)0;
                    }
                    p += (i64)APART * row;
                }
#pragma unroll
                for (int i = 0; i < COUNT; i++) {
                    u32 r = line + i * APART;
                    u32 at = to + (K_LINES ? TILE::element(r, k) : TILE::element(k, r));
                    if (sizeof(T) == 2) asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(bits[i]) : "memory");
                }
                q += step;
            }
        } else {
            const char* p = from;
#pragma unroll 1
            for (u32 l = line; l < LINES; l += STEP) {
                i32 elements;
                if (K_LINES) {
                    elements = l < edge ? left - (i32)chunk * CHUNK : 0;
                } else {
                    elements = (i32)l < left ? (i32)(edge - min(edge, chunk * CHUNK)) : 0;
                }
                copy16(to + TILE::chunk(l, chunk), p, max(0, min(CHUNK, elements)) * (i32)sizeof(T));
                p += step;
            }
        }
        from += next;
    }

    // A whole stage.
    __device__ __forceinline__ void copy(u32 to, i32 left) {
        if (fast(left)) {
            part<1>(to, 0);
        } else {
            slow(to, left);
        }
    }
};
