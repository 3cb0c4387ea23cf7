// Tiles of the operands in shared memory, brought there by asynchronous copies, in several stages.
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

    // The byte at which chunk `c` of a line lies.
    static __device__ __forceinline__ u32 chunk(u32 line, u32 c) {
        constexpr u32 MASK = (CHUNKS < 8 ? CHUNKS : 8) - 1;
        u32 x = 0;
        if (SWIZZLE == BY_ROW) x = (CHUNKS >= 8 ? line : CHUNKS == 4 ? line >> 1 : line >> 2) & MASK;
        if (SWIZZLE == BY_FOURTH) x = (line >> 2) & MASK;
        if (SWIZZLE == BY_PAIR) x = (line & 3) * 2;
        return line * (LENGTH * (u32)sizeof(T)) + (c ^ x) * 16;
    }
    static __device__ __forceinline__ u32 element(u32 line, u32 i) {
        return chunk(line, i / CHUNK) + i % CHUNK * (u32)sizeof(T);
    }
};

// Brings tiles from memory. K_LINES: lines run along k and there is one for each row of the operand (its m or n); else
// lines run along m or n and there is one for each k.
//
// ANY: no stride and no address is asked to be aligned or 1. Elements are copied one by one, neighbours in memory by
// neighbouring threads.
template <typename T, typename TILE, int LINES, int LENGTH, bool K_LINES, bool ANY, int THREADS>
struct Loader {
    static constexpr int CHUNK = TILE::CHUNK;
    static constexpr int CHUNKS = TILE::CHUNKS;
    static constexpr int STEP = THREADS / CHUNKS;
    static constexpr int COPIES = (LINES + STEP - 1) / STEP;
    static_assert(ANY || THREADS % CHUNKS == 0, "");
    static_assert(ANY || LINES % STEP == 0 || LINES < STEP, "");

    const T* from;
    i64 line_stride, element_stride, k_stride;
    u32 edge;         // rows of the operand from this tile's first on
    u32 line, chunk;  // this thread's first
    bool lines_first;

    __device__ __forceinline__ Loader(const T* base, i64 row_stride, i64 k_stride, u32 rows, u32 row0, u32 k0)
        : k_stride(k_stride) {
        line_stride = K_LINES ? row_stride : k_stride;
        element_stride = K_LINES ? k_stride : row_stride;
        edge = rows - row0;
        from = base + (i64)row0 * row_stride + (i64)k0 * k_stride;
        if (ANY) {
            i64 l = line_stride < 0 ? -line_stride : line_stride, e = element_stride < 0 ? -element_stride : element_stride;
            lines_first = l < e;
        } else {
            line = threadIdx.x / CHUNKS;
            chunk = threadIdx.x % CHUNKS;
            from += (i64)line * line_stride + chunk * CHUNK;
        }
    }

    // Begins to copy the tile at the place in k that this has reached, of which `left` are left, and goes on by `depth`.
    __device__ __forceinline__ void copy(u32 to, i32 left, int depth) {
        if (ANY) {
#pragma unroll 4
            for (u32 i = threadIdx.x; i < LINES * LENGTH; i += THREADS) {
                u32 l = lines_first ? i % LINES : i / LENGTH;
                u32 e = lines_first ? i / LINES : i % LENGTH;
                u32 row = K_LINES ? l : e;
                i32 k = K_LINES ? e : l;
                bool inside = row < edge && k < left;
                const T* p = from + ((i64)l * line_stride + (i64)e * element_stride);
                u32 at = to + TILE::element(l, e);
                if (sizeof(T) == 4) {
                    copy4(at, inside ? p : from, inside ? 4 : 0);
                } else {
                    u16 bits = inside ? *(const u16*)p : (u16)0;
                    asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "h"(bits) : "memory");
                }
            }
        } else {
            const T* p = from;
#pragma unroll
            for (int i = 0; i < COPIES; i++) {
                u32 l = line + i * STEP;
                if (LINES % STEP == 0 || l < LINES) {
                    i32 elements;
                    if (K_LINES) {
                        elements = l < edge ? left - (i32)chunk * CHUNK : 0;
                    } else {
                        elements = (i32)l < left ? (i32)(edge - min(edge, chunk * CHUNK)) : 0;
                    }
                    i32 bytes = max(0, min(CHUNK, elements)) * (i32)sizeof(T);
                    copy16(to + TILE::chunk(l, chunk), p, bytes);
                }
                p += (i64)STEP * line_stride;
            }
        }
        from += (i64)depth * k_stride;
    }
};
