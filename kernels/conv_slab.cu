// The gradient by the weight of windows of three by three, one place from the next: f16 and bf16 by Hopper's own instructions. Sums are f32.
//
// Of `conv_wgmma.cu` each tap has its own stages of the image, so that an element comes from the second-level cache nine times. Here a block has
// 64 filters, 64 channels and all nine taps. A stage has lines of eight places, and a slab of the image around them, a line more above and below
// and a place more on either side; each tap is the same slab, begun elsewhere. That is because the instructions take an address apart after they
// have made it: which chunks of a line are exchanged depends on where the line lies in shared memory, not on where the matrix begins. So a
// matrix may begin at any line, its groups of eight k may be any number of lines apart (`second - at` below: ten, a line of the slab, and more from
// image to image), and so may its groups of 64 columns (one: the next tap's).
//
// Each group of four warps has the three taps of a line of the window. `conv_add.cu` adds what blocks leave.
#include "hopper.cuh"
#include "mend.cuh"

using T = V_T;

constexpr u32 GROUPS = 3, WARPS = 4 * GROUPS, COLUMNS = 192, SUMS = COLUMNS / 2;
// Of a slab's line: places, and bytes.
constexpr u32 PLACES = 10, LINE = PLACES * 128;

// The argument; `crates/mg-kernels/src/library/conv/cuda/hopper/slab.rs` writes it.
struct Slab {
    float* parts;         // the sums of each block's part of its tile
    u32 m, depth;         // filters, channels
    u32 tiles_m, tiles;   // of 64 filters, and of as many channels
    u32 steps, share;     // stages of a tile, and of a block
    u32 rows, images;     // of a stage: so many lines of eight places of so many images, an even number together
    u32 down, right;      // stages of images
    u32 stages;           // in shared memory
    u32 room_a, room_b;   // bytes of a stage there, multiples of 1024
    u32 batch, high, wide;
    i32 low_y, low_x;     // where the first place's window begins
    i32 size_y, size_x;   // the images' lines and columns
    u32 overhangs;        // whether stages have places that there are not
    // Where the operands lie: from one place to the next, of the images one line and one image.
    const T* own_a;
    const T* own_b;
    u64 a_line, b_place, b_line, b_image;
    TensorMap a, b;
};

// A stage's first image, line and column, by its number.
struct Stage {
    u32 image, y, x;

    __device__ __forceinline__ Stage(const Slab& p, u32 k) {
        const u32 line = k / p.right, images = line / p.down;
        x = (k - line * p.right) * 8;
        y = (line - images * p.down) * p.rows;
        image = images * p.images;
    }
};

// A sum over stages, number by number.
__device__ __forceinline__ float exact(const Slab& p, u32 row, u32 tap, u32 channel, u32 first, u32 last) {
    float sum = 0;
    if (row >= p.m || channel >= p.depth) return sum;
    const i32 low_y = p.low_y + (i32)(tap / 3), low_x = p.low_x + (i32)(tap % 3);
#pragma unroll 1
    for (u32 k = first; k < last; k++) {
        const Stage at(p, k);
#pragma unroll 1
        for (u32 image = at.image; image < min(at.image + p.images, p.batch); image++)
#pragma unroll 1
            for (u32 y = at.y; y < min(at.y + p.rows, p.high); y++)
#pragma unroll 1
                for (u32 x = at.x; x < min(at.x + 8, p.wide); x++) {
                    const i32 line = (i32)y + low_y, column = (i32)x + low_x;
                    const u64 place = ((u64)image * p.high + y) * p.wide + x;
                    // Zeros around the image are multiplied, too.
                    float b = 0;
                    if (line >= 0 && line < p.size_y && column >= 0 && column < p.size_x)
                        b = to_f32(p.own_b[image * p.b_image + line * p.b_line + column * p.b_place + channel]);
                    sum = __fmaf_rn(to_f32(p.own_a[place * p.a_line + row]), b, sum);
                }
    }
    return sum;
}

__device__ __forceinline__ bool is_finite(float x) { return (__float_as_uint(x) & 0x7f800000) != 0x7f800000; }

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Slab p) {
    extern __shared__ __align__(1024) u8 memory[];
    // Uniform, as the compiler sees from the exchange.
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 begin = (shared_address(memory) + 1023) & ~1023u, room = p.room_a + p.room_b;
    const u32 full = begin + p.stages * room, empty = full + p.stages * 8;
    const Slab* own = argument<Slab>();
    if (threadIdx.x == 0) {
        ring_init(full, empty, p.stages, 1, WARPS);
        barriers_ready();
        prefetch(&own->a);
        prefetch(&own->b);
    }
    __syncthreads();
    const u32 part = blockIdx.x / p.tiles, tile = blockIdx.x - part * p.tiles;
    const u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
    const u32 first = part * p.share, last = min(first + p.share, p.steps);
    u32 stage = 0, parity = 0;
    auto next = [&] {
        if (++stage == p.stages) stage = 0, parity ^= 1;
    };

    if (warp < 4) {
        fewer_registers<24>();
        if (threadIdx.x == 0) {
            const u32 bytes = p.images * (p.rows * 1024 + (p.rows + 2) * LINE);
#pragma unroll 1
            for (u32 k = first; k < last; k++) {
                const Stage at(p, k);
                const u32 barrier = full + stage * 8, to = begin + stage * room;
                barrier_wait(empty + stage * 8, parity ^ 1);
                barrier_expect(barrier, bytes);
                bring(to, &own->a, barrier, tile_m * 64, at.x, at.y, at.image);
                bring(to + p.room_a, &own->b, barrier, tile_n * 64, at.x + p.low_x, at.y + p.low_y, at.image);
                next();
            }
        }
    } else {
        more_registers<160>();
        const u32 group = warp / 4 - 1;
        float sum[SUMS];
#pragma unroll
        for (u32 j = 0; j < SUMS; j++) sum[j] = 0;
        const u32 pairs = p.images * p.rows / 2;
        u32 before = p.stages;
#pragma unroll 1
        for (u32 k = first; k < last; k++) {
            barrier_wait(full + stage * 8, parity);
            settle(sum);
            const u32 from_a = begin + stage * room, from_b = from_a + p.room_a + group * LINE;
            // Two lines of places at a time, of which the second may be the next image's.
            u32 at = 0, row = 0;
            auto down = [&](u32 from) { return from + (++row == p.rows ? row = 0, 3 * LINE : LINE); };
            u32 s = 0;
            // At least once, and with a fence behind: else an assembler puts one there, and says so.
#pragma unroll 1
            do {
                const u32 second = down(at);
                products_begin();
                multiply<false, false>(sum, matrix<false>(from_a + s * 2048, 1024), matrix(from_b + at, 128, second - at), T());
                at = down(second);
            } while (++s < pairs);
            products_begin();
            products_commit();
            products_wait<1>();
            if (before < p.stages && lane == 0) barrier_arrive(empty + before * 8);
            before = stage;
            next();
        }
        products_wait<0>();
        settle(sum);
        // Places that there are not are zeros, but what they see of the image may be infinite.
        if (p.overhangs)
            mend(sum, lane, [](float x) { return !is_finite(x); }, [&](u32 r, u32 column) {
                const u32 row = tile_m * 64 + warp % 4 * 16 + r, channel = tile_n * 64 + column % 64;
                return exact(p, row, group * 3 + column / 64, channel, first, last);
            });
        float4* to = (float4*)p.parts + (u64)blockIdx.x * (64 * GROUPS * COLUMNS / 4) + (warp - 4) * (SUMS / 4 * 32) + lane;
#pragma unroll
        for (u32 j = 0; j < SUMS; j += 4) __stcg(to + j * 8, make_float4(sum[j], sum[j + 1], sum[j + 2], sum[j + 3]));
    }
}
