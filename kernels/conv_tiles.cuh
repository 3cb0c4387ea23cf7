// What convolutions by the copy engine of capability 9.0 share: the argument, tiles and their turns, and the thread that has both
// operands brought.
//
// Images lie with their channels innermost, and the copy engine gathers windows over them, zeros around them included.
//
// Forward: rows are filters, columns are places of all images, k is the channels of one tap of the window after the other. The
// gradient by the input is the same with other taps. WEIGHT, the gradient by the weight: rows are filters, columns 128 bytes of
// channels of one tap after the other, k is the places. A block takes its share of all tiles' stages, and leaves the sums of each
// tile that it has a part of; `conv_add.cu` adds them in the order of k. POINT: of windows of one element, where both operands are
// taken as they lie, with places innermost; columns are channels. PLACES: not WEIGHT, and rows are places, columns are filters, of
// which there may be few. HELD: WEIGHT of which the filters' operand has places innermost, of all images.
#pragma once
#include "hopper.cuh"
#include "index.cuh"

// The argument; `crates/mg-kernels/src/library/conv/cuda/hopper` writes it.
struct Conv {
    void* out;         // null where an epilogue's own stores are all that is wanted
    float* parts;      // of the weight's gradient: the sums of each block's part of each tile
    u32 m, n;          // filters, places
    u32 tiles_m, tiles_n;
    u32 chunks;        // of 128 bytes of channels, of a tap
    u32 taps;
    u32 taps_wide;     // of a line of the window
    u32 steps;         // of the weight's gradient: stages of a tile,
    u32 share;         // and of a block,
    u32 together;      // which are all of one tile: that many blocks, one of each tile, read the same places at a time
    i32 low_y, low_x;  // where the first place's window begins
    u32 stride_y, stride_x;
    u32 apart_y, apart_x;               // from one tap to the next, in the image,
    i32 tap_first, tap_down, tap_right; // and in the filters
    u32 vector;        // so many places can be stored at a time; 0: elements are, four at a time, behind the mark for epilogues
    u32 out_first, out_down, out_right; // where places lie in a plane of the result: side by side where the last is 0
    u32 each;          // from one place of the result to the next, in elements: 1, or all channels where these are innermost,
    u64 plane, image;  // from one channel, and from one image
    Divisor places;    // of an image; of POINT, its stages
    Divisor wide;      // of a line of places
    // Where the operands lie, for what is read number by number: a's lines, and the next tap's (of POINT: image's); of b the next place, line and
    // image; how many neighbours there are, and the images' columns and lines.
    const float* own_a;
    const float* own_b;
    u64 a_line, a_tap, b_place, b_line, b_image;
    u32 depth;
    i32 size_x, size_y;
    TensorMap a, b;
};

// A place, by its number among those of all images: where its window begins.
struct Window {
    u32 image;
    i32 y, x;

    __device__ __forceinline__ Window(const Conv& p, u32 place) {
        image = p.places.divide(place);
        u32 rest = place - image * p.places.size;
        u32 line = p.wide.divide(rest);
        y = (i32)(line * p.stride_y) + p.low_y;
        x = (i32)((rest - line * p.wide.size) * p.stride_x) + p.low_x;
    }
};

// Where a place's element of the first filter lies in the result.
__device__ __forceinline__ u64 stored_at(const Conv& p, u32 place) {
    u32 image = p.places.divide(place);
    u32 rest = place - image * p.places.size;
    if (p.out_right) {
        u32 line = p.wide.divide(rest);
        rest = p.out_first + line * p.out_down + (rest - line * p.wide.size) * p.out_right;
    }
    return image * p.image + (u64)rest * p.each;
}

// Stages of both operands: lines of 128 bytes, of `ROWS` and `COLUMNS` rows (of WEIGHT: of so many elements along rows and columns,
// `EACH` in a line; `EACH` lines are a stage's depth).
template <typename T, int BM, int BN, int STAGES, bool WEIGHT, bool POINT, int WARPS, bool HELD = false, bool PLACES = false>
struct Ring {
    static constexpr int EACH = 128 / sizeof(T);
    static constexpr u32 BYTES_A = BM * 128, BYTES_B = BN * 128, STAGE = BYTES_A + BYTES_B;

    const Conv* own;  // where the argument lies
    u32 stages, full, empty;
    u32 stage, parity;
    // What the block does: tile after tile; of WEIGHT those stages, of all tiles' stages.
    u32 turn, turns;

    __device__ __forceinline__ Ring(const Conv& p, const Conv* own, u32 memory, u32 between) : own(own), stage(0), parity(0) {
        stages = memory;
        full = memory + STAGES * STAGE + between;
        empty = full + STAGES * 8;
        if (threadIdx.x == 0) {
            ring_init(full, empty, STAGES, 1, WARPS);
            barriers_ready();
            prefetch(&own->a);
            prefetch(&own->b);
        }
        __syncthreads();
        turn = blockIdx.x;
        turns = p.tiles_m * p.tiles_n;
        if (WEIGHT && p.together) {
            u32 part = blockIdx.x / turns, tile = blockIdx.x - part * turns;
            turn = tile * p.steps + part * p.share;
            turns = min(turn + p.share, (tile + 1) * p.steps);
        } else if (WEIGHT) {
            turn = blockIdx.x * p.share;
            turns = min(turn + p.share, turns * p.steps);
        }
    }

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }

    // The next tile, and how many stages of it are this block's.
    __device__ __forceinline__ u32 take_tile(const Conv& p, u32& tile) {
        if (WEIGHT) {
            tile = turn / p.steps;
            u32 count = min((tile + 1) * p.steps, turns) - turn;
            turn += count;
            return count;
        }
        tile = turn;
        turn += gridDim.x;
        return p.taps * p.chunks;
    }

    // Where a block leaves its sums of a tile. One block or one tile further is another number.
    static __device__ __forceinline__ u32 slot(const Conv& p, u32 tile) { return p.together ? blockIdx.x : blockIdx.x + tile; }

    __device__ __forceinline__ u32 free_stage() {
        u32 barrier = full + stage * 8;
        barrier_wait(empty + stage * 8, parity ^ 1);
        barrier_expect(barrier, STAGE);
        return barrier;
    }

    // Brings all stages; by one thread.
    __device__ __forceinline__ void bring_all(const Conv& p) {
#pragma unroll 1
        while (turn < turns) {
            u32 k = WEIGHT ? turn % p.steps : 0, tile;
            u32 count = take_tile(p, tile);
            u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
            if (WEIGHT) {
#pragma unroll 1
                for (; count > 0; count--, k++)
                    if (POINT)
                        bring_points(p, tile_m, tile_n, k);
                    else
                        bring_places_of_k(p, tile_m, tile_n, k);
            } else {
                bring_tile(p, tile_m, tile_n);
            }
        }
    }

    __device__ __forceinline__ void bring_points(const Conv& p, u32 tile_m, u32 tile_n, u32 k) {
        u32 image = p.places.divide(k), place = (k - image * p.places.size) * EACH;
        u32 to = stages + stage * STAGE, barrier = free_stage();
        bring(to, &own->a, barrier, place, tile_m * BM, image);
        bring(to + BYTES_A, &own->b, barrier, place, tile_n * BN, image);
        next();
    }

    __device__ __forceinline__ void bring_places_of_k(const Conv& p, u32 tile_m, u32 tile_n, u32 k) {
        u32 to = stages + stage * STAGE;
        Window at(p, k * EACH);
        u32 barrier = free_stage();
        if (HELD) {
            bring(to, &own->a, barrier, k * EACH, tile_m * BM, 0);
        } else {
#pragma unroll
            for (int i = 0; i < BM; i += EACH) bring(to + i * 128, &own->a, barrier, tile_m * BM + i, k * EACH, 0);
        }
        // Columns that there are not are those before them, once more.
        u32 columns = p.taps * p.chunks, column = min(tile_n * (BN / EACH), columns - 1);
        u32 tap = column / p.chunks, chunk = column - tap * p.chunks;
        u32 down = tap / p.taps_wide, right = tap - down * p.taps_wide;
#pragma unroll 1
        for (int i = 0; i < BN; i += EACH) {
            bring_places(to + BYTES_A + i * 128, &own->b, barrier, chunk * EACH, at.x, at.y, at.image, right * p.apart_x,
                         down * p.apart_y);
            if (++column >= columns) {
                column--;
            } else if (++chunk == p.chunks) {
                chunk = 0;
                if (++right == p.taps_wide) right = 0, down++;
            }
        }
        next();
    }

    __device__ __forceinline__ void bring_tile(const Conv& p, u32 tile_m, u32 tile_n) {
        Window at(p, tile_n * (PLACES ? BM : BN));
        i32 tap_line = p.tap_first;
#pragma unroll 1
        for (u32 first = 0, y = 0; first < p.taps; first += p.taps_wide, y += p.apart_y, tap_line += p.tap_down) {
            i32 tap = tap_line;
#pragma unroll 1
            for (u32 i = 0, x = 0; i < p.taps_wide; i++, x += p.apart_x, tap += p.tap_right) {
#pragma unroll 1
                for (u32 c = 0; c < p.chunks; c++) {
                    u32 to = stages + stage * STAGE, barrier = free_stage();
                    const u32 places = PLACES ? to : to + BYTES_A, filters = PLACES ? to + BYTES_A : to;
                    bring(filters, &own->a, barrier, c * EACH, tile_m * (PLACES ? BN : BM), tap);
                    bring_places(places, &own->b, barrier, c * EACH, at.x, at.y, at.image, x, y);
                    next();
                }
            }
        }
    }
};
