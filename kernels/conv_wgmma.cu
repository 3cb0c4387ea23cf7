// Convolutions and their gradients by Hopper's own instructions (wgmma): f16, bf16, and f32 operands rounded to tf32. Sums are f32.
//
// The product of `matmul_wgmma.cu` whose second operand the copy engine gathers: images lie with their channels innermost, and it
// walks over places by itself, zeros around them included.
//
// Forward: rows are filters, columns are places of all images, k is the channels of one tap of the window after the other. The
// gradient by the input is the same with other taps. V_WEIGHT, the gradient by the weight: rows are filters, columns 64 channels of
// one tap after the other, k is the places. A block takes its share of all tiles' stages, and leaves the sums of each tile that it
// has a part of; `conv_add.cu` adds them in the order of k.
#include "hopper.cuh"
#include "index.cuh"

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
constexpr bool WEIGHT = V_WEIGHT;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
constexpr int BK = 128 / sizeof(T), STEPS = 4;
constexpr int GROUPS = 2, WARPS = 4 * GROUPS;
// Each group of four warps has 64 rows, or all of these and half of the columns.
constexpr bool ACROSS = BM == 64;
constexpr int WIDE = ACROSS ? BN / GROUPS : BN, SUMS = WIDE / 2;
constexpr u32 BYTES_A = BM * 128, BYTES_B = BN * 128, STAGE = BYTES_A + BYTES_B;
constexpr u32 SLICE = 2048;  // where a warp's sums are turned into rows
static_assert((ACROSS || BM == 64 * GROUPS) && WIDE % 64 == 0 && (HALF || !WEIGHT), "");

// The argument; `crates/mg-kernels/src/library/conv/cuda/hopper.rs` writes it.
struct Conv {
    void* out;
    float* parts;      // of the weight's gradient: the sums of each block's part of each tile
    u32 m, n;          // filters, places
    u32 tiles_m, tiles_n;
    u32 chunks;        // of 128 bytes of channels
    u32 taps;
    u32 taps_wide;     // of a line of the window
    u32 steps;         // of the weight's gradient: stages of a tile,
    u32 share;         // and of a block
    i32 low_y, low_x;  // where the first place's window begins
    u32 stride_y, stride_x;
    u32 apart_y, apart_x;               // from one tap to the next, in the image,
    i32 tap_first, tap_down, tap_right; // and in the filters
    u32 vector;        // so many places can be stored at a time
    u32 out_first, out_down, out_right; // where places lie in a plane of the result: side by side where the last is 0
    u64 plane, image;  // of the result, in elements
    Divisor places;    // of an image
    Divisor wide;      // of a line of places
    TensorMap a, b;
};

#define TEXT(x) #x
#define NAME(x) TEXT(x)
// Where the argument lies, for the copy engine: see `matmul_wgmma.cu`.
__device__ __forceinline__ const Conv* argument() {
    const Conv* at;
    asm("{.reg .b64 %own;mov.b64 %own, " NAME(V_NAME) "_param_0;cvta.param.u64 %0, %own;}" : "=l"(at));
    return at;
}

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
    return image * p.image + rest;
}

__device__ __forceinline__ u32 pack(f16, float low, float high) { return to_f16(low).bits | (u32)to_f16(high).bits << 16; }
template <typename T>
__device__ __forceinline__ u32 pack(T, float low, float high) { return to_bf16(low).bits | (u32)to_bf16(high).bits << 16; }

template <int SIZE>
struct Bits {
    using type = u32;
};
template <>
struct Bits<2> {
    using type = u16;
};

// Sixteen rows of a warp's sums, 128 bytes at a time.
__device__ __forceinline__ void store(const Conv& p, u32 slice, u32 row, u32 col, u32 lane, const float (&sum)[SUMS]) {
    constexpr int COUNT = 128 / (HALF ? 2 : 4), FRAGMENTS = COUNT / 8;
    using U = typename Bits<sizeof(T)>::type;
    U* out = (U*)p.out;
#pragma unroll 1
    for (u32 part = 0; part < WIDE / COUNT; part++) {
        u32 first = col + part * COUNT;
        if (first >= p.n) break;
        __syncwarp();
        // Sums are named by numbers that are known: the one part of all.
#pragma unroll
        for (int s = 0; s < WIDE / COUNT; s++) {
            if (part != s) continue;
            const float* d = sum + s * FRAGMENTS * 4;
            if (HALF) {
                u32 r = lane % 16, c = lane / 16;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j += 2, d += 8)
                    stmatrix(slice + r * 128 + (((j + c) ^ (r % 8)) << 4), pack(T(), d[0], d[1]), pack(T(), d[2], d[3]),
                             pack(T(), d[4], d[5]), pack(T(), d[6], d[7]));
            } else {
                u32 r = lane / 4, c = lane % 4;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j++, d += 4) {
                    u32 at = slice + r * 128 + (((2 * j + c / 2) ^ r) << 4) + c % 2 * 8;
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(d[0]), "f"(d[1]) : "memory");
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at + 1024), "f"(d[2]), "f"(d[3]) : "memory");
                }
            }
        }
        __syncwarp();
        if (p.vector >= 4) {
            // Sixteen bytes a lane, four rows at a time.
            constexpr int EACH = HALF ? 8 : 4;
            u32 c = lane % 8, place = first + c * EACH;
            bool low = place < p.n, high = HALF && place + 4 < p.n;
            bool whole = p.vector >= EACH;
            u64 at = stored_at(p, low ? place : 0), next = HALF && !whole ? stored_at(p, high ? place + 4 : 0) : 0;
#pragma unroll
            for (int i = 0; i < 4; i++) {
                u32 r = i * 4 + lane / 8;
                float4 v = read16(slice + r * 128 + ((c ^ (r % 8)) << 4));
                if (row + r >= p.m) continue;
                U* to = out + (row + r) * p.plane;
                if (whole) {
                    if (low) *(float4*)(to + at) = v;
                } else {
                    if (low) *(float2*)(to + at) = make_float2(v.x, v.y);
                    if (high) *(float2*)(to + next) = make_float2(v.z, v.w);
                }
            }
        } else {
            // A line of places at a time.
            constexpr int EACH = HALF ? 2 : 1;
            u32 place = first + lane * EACH;
            bool low = place < p.n, high = HALF && place + 1 < p.n;
            u64 at = stored_at(p, low ? place : 0), next = HALF ? stored_at(p, high ? place + 1 : 0) : 0;
            U* to = out + row * p.plane;
#pragma unroll 4
            for (u32 r = 0; r < 16; r++, to += p.plane) {
                u32 v;
                asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(slice + r * 128 + ((lane / 4 ^ (r % 8)) << 4) + lane % 4 * 4));
                if (row + r >= p.m) break;
                if (low) to[at] = (U)v;
                if (high) to[next] = (U)(v >> 16);
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Conv p) {
    extern __shared__ __align__(1024) u8 memory[];
    // Uniform, as the compiler sees from the exchange.
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 stages = (shared_address(memory) + 1023) & ~1023u;
    const u32 slices = stages + STAGES * STAGE, full = slices + (WEIGHT ? 0 : WARPS * SLICE), empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            barrier_init(full + s * 8, 1);
            barrier_init(empty + s * 8, WARPS);
        }
        barriers_ready();
        prefetch(&argument()->a);
        prefetch(&argument()->b);
    }
    __syncthreads();

    u32 stage = 0, parity = 0;
    auto next = [&]() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    };
    // What this block does: all stages of tile after tile, or those from one number on, of all tiles' stages.
    u32 turn, turns;
    if (WEIGHT) {
        turn = blockIdx.x * p.share;
        turns = min(turn + p.share, p.tiles_m * p.tiles_n * p.steps);
    } else {
        turn = blockIdx.x;
        turns = p.tiles_m * p.tiles_n;
    }

    if (warp < 4) {
        fewer_registers<40>();
        if (threadIdx.x == 0) {
#pragma unroll 1
            while (turn < turns) {
                if (WEIGHT) {
                    u32 tile = turn / p.steps, k = turn - tile * p.steps;
                    u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
                    u32 count = min(p.steps - k, turns - turn);
                    turn += count;
#pragma unroll 1
                    for (; count > 0; count--, k++) {
                        u32 to = stages + stage * STAGE, barrier = full + stage * 8;
                        Window at(p, k * BK);
                        barrier_wait(empty + stage * 8, parity ^ 1);
                        barrier_expect(barrier, STAGE);
#pragma unroll
                        for (int i = 0; i < BM; i += 64) bring(to + i * 128, &argument()->a, barrier, tile_m * BM + i, k * BK, 0);
                        // Columns that there are not are those before them, once more.
                        u32 column = min(tile_n * (BN / 64), p.taps * p.chunks - 1);
                        u32 tap = column / p.chunks, chunk = column - tap * p.chunks;
                        u32 down = tap / p.taps_wide, right = tap - down * p.taps_wide;
#pragma unroll 1
                        for (int i = 0; i < BN; i += 64) {
                            bring_places(to + BYTES_A + i * 128, &argument()->b, barrier, chunk * 64, at.x, at.y, at.image,
                                         right * p.apart_x, down * p.apart_y);
                            if (++column >= p.taps * p.chunks) {
                                column--;
                            } else if (++chunk == p.chunks) {
                                chunk = 0;
                                if (++right == p.taps_wide) right = 0, down++;
                            }
                        }
                        next();
                    }
                } else {
                    u32 tile_n = turn / p.tiles_m, tile_m = turn - tile_n * p.tiles_m;
                    Window at(p, tile_n * BN);
                    turn += gridDim.x;
                    i32 tap_line = p.tap_first;
#pragma unroll 1
                    for (u32 first = 0, y = 0; first < p.taps; first += p.taps_wide, y += p.apart_y, tap_line += p.tap_down) {
                        i32 tap = tap_line;
#pragma unroll 1
                        for (u32 i = 0, x = 0; i < p.taps_wide; i++, x += p.apart_x, tap += p.tap_right) {
#pragma unroll 1
                            for (u32 c = 0; c < p.chunks; c++) {
                                u32 to = stages + stage * STAGE, barrier = full + stage * 8;
                                barrier_wait(empty + stage * 8, parity ^ 1);
                                barrier_expect(barrier, STAGE);
                                bring(to, &argument()->a, barrier, c * BK, tile_m * BM, tap);
                                bring_places(to + BYTES_A, &argument()->b, barrier, c * BK, at.x, at.y, at.image, x, y);
                                next();
                            }
                        }
                    }
                }
            }
        }
    } else {
        more_registers<232>();
        constexpr bool LINES_K = !WEIGHT;
        const u32 group = warp / 4 - 1;
        const u32 slice = slices + (warp - 4) * SLICE;
        constexpr u32 STEP_K = LINES_K ? 32 : 16 * 128;
        const u64 from_a = matrix<LINES_K>(stages + (ACROSS ? 0 : group * 64 * 128), BK * 128);
        const u64 from_b = matrix<LINES_K>(stages + BYTES_A + (ACROSS ? group * WIDE * 128 : 0), BK * 128);
        auto release = [&](u32 stage) {
            if (lane == 0) barrier_arrive(empty + stage * 8);
        };
#pragma unroll 1
        while (turn < turns) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            u32 tile = turn, count = p.taps * p.chunks;
            if (WEIGHT) {
                tile = turn / p.steps;
                count = min((tile + 1) * p.steps, turns) - turn;
                turn += count;
            } else {
                turn += gridDim.x;
            }
            u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
            float sum[SUMS];
#pragma unroll
            for (int j = 0; j < SUMS; j++) sum[j] = 0;
            u32 before = STAGES;
#pragma unroll 1
            for (; count > 0; count--) {
                barrier_wait(full + stage * 8, parity);
                settle(sum);
                products_begin();
                const u64 step_a = from_a + stage * (STAGE / 16), step_b = from_b + stage * (STAGE / 16);
#pragma unroll
                for (int s = 0; s < STEPS; s++)
                    multiply<LINES_K, LINES_K>(sum, step_a + s * STEP_K / 16, step_b + s * STEP_K / 16, T());
                products_commit();
                products_wait<1>();
                if (before < STAGES) release(before);
                before = stage;
                next();
            }
            products_wait<0>();
            if (before < STAGES) release(before);
            settle(sum);
            if (WEIGHT) {
                // Each block and each tile that it has a part of have a place of their own: one of both numbers is another.
                float4* part = (float4*)p.parts + (u64)(blockIdx.x + tile) * (BM * BN / 4) + (warp - 4) * (SUMS / 4 * 32) + lane;
#pragma unroll
                for (int j = 0; j < SUMS; j += 4) __stcg(part + j * 8, make_float4(sum[j], sum[j + 1], sum[j + 2], sum[j + 3]));
            } else {
                u32 row = tile_m * BM + (ACROSS ? 0 : group * 64) + warp % 4 * 16;
                store(p, slice, row, tile_n * BN + (ACROSS ? group * WIDE : 0), lane, sum);
            }
        }
    }
}
