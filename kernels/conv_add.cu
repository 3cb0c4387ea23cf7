// The gradient by the weight, from the sums that blocks of `conv_wgmma.cu` (of f32: `conv_simt.cu`) left of their parts of each tile:
// added in the order of k, each thread some that follow one another. V_FRAGMENTS: sums lie as the tensor cores leave them, else by rows.
#include "common.cuh"

using T = V_T;

struct Add {
    void* out;             // filters, channels, taps
    const float4* parts;
    u32 m, channels, taps;
    u32 chunks;            // of 128 bytes of channels
    u32 tiles_m, tiles;
    u32 rows, columns;     // of a tile,
    u32 wide;              // and columns of a group of four warps
    u32 steps, share;      // stages of a tile and of a block,
    u32 together;          // which are all of one tile
    u32 ways;              // so many threads share the parts of four sums
    u32 whole;             // whether a tile has all taps of its channels, tap after tap (`conv_slab.cu`)
    // Of the neighbours of a tap `inner` are one place's, its channels first; how far apart filters, channels, taps and places
    // lie in the result.
    u32 neighbours, inner;
    u32 row, channel, along;
};

__device__ __forceinline__ float narrow(float x, float) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Add p) {
    constexpr u32 EACH = 128 / sizeof(T);
    constexpr bool FRAGMENTS = V_FRAGMENTS;
    __shared__ float4 shared[256];
    const u32 own = 256 / p.ways, way = threadIdx.x / own;  // of the block's float4s, and which thread of one
    u32 each = p.wide / 8, fours = p.rows * p.columns / 4;
    u32 at = blockIdx.x * own + threadIdx.x % own;
    u32 tile = at / fours;
    at -= tile * fours;
    u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
    u32 row = tile_m * p.rows, column = tile_n * p.columns;
    if (FRAGMENTS) {
        // Four sums of a lane: two neighbours, and those of the row eight further down.
        u32 lane = at % 32, j = at / 32 % each, warp = at / 32 / each;
        row += warp % 4 * 16 + lane / 4, column += j * 8 + lane % 4 * 2;
        if (p.rows == 64)
            column += warp / 4 * p.wide;
        else
            row += warp / 4 * 64;
    } else {
        // Four neighbours of a row.
        row += at * 4 / p.columns;
        column += at * 4 % p.columns;
    }
    const u32 line = column / EACH, apart_by = p.whole ? p.taps : p.chunks, first_of = line / apart_by, rest = line - first_of * apart_by;
    const u32 tap = p.whole ? rest : first_of, neighbour = (p.whole ? first_of : rest) * EACH + column % EACH;
    const bool inside = tile < p.tiles && row < p.m && tap < p.taps;
    u32 count = (p.steps - 1) / p.share + 1, first = tile;
    u64 apart = (u64)p.tiles * fours;
    if (!p.together) {
        u32 block = tile * p.steps / p.share;
        count = ((tile + 1) * p.steps - 1) / p.share + 1 - block;
        first = block + tile, apart = fours;
    }
    // Few sums, and many parts: what is under way at a time decides how long it takes.
    constexpr u32 AHEAD = 16;
    const u32 each_way = (count + p.ways - 1) / p.ways;
    u32 begin = way * each_way;
    const u32 end = inside ? min(begin + each_way, count) : 0;
    const float4* part = p.parts + (u64)first * fours + at + begin * apart;
    float4 sum = make_float4(0, 0, 0, 0);
    auto add = [&](float4 x) {
        sum.x = __fadd_rn(sum.x, x.x);
        sum.y = __fadd_rn(sum.y, x.y);
        sum.z = __fadd_rn(sum.z, x.z);
        sum.w = __fadd_rn(sum.w, x.w);
    };
#pragma unroll 1
    for (; begin < end; begin += AHEAD) {
        float4 x[AHEAD];
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++)
            if (begin + i < end) x[i] = __ldcg(part + i * apart);
#pragma unroll
        for (u32 i = 0; i < AHEAD; i++)
            if (begin + i < end) add(x[i]);
        part += AHEAD * apart;
    }
    if (p.ways > 1) {
        shared[threadIdx.x] = sum;
        __syncthreads();
    }
    if (way > 0 || !inside) return;
#pragma unroll 1
    for (u32 i = 1; i < p.ways; i++) add(shared[i * own + threadIdx.x]);
    auto put = [&](u32 i, u32 row, float sum) {
        u32 n = neighbour + i, place = n / p.inner, channel = n - place * p.inner;
        if (row >= p.m || n >= p.neighbours || channel >= p.channels) return;
        ((T*)p.out)[(u64)row * p.row + (u64)channel * p.channel + tap * p.along + place] = narrow(sum, T());
    };
    put(0, row, sum.x);
    put(1, row, sum.y);
    put(FRAGMENTS ? 0 : 2, FRAGMENTS ? row + 8 : row, sum.z);
    put(FRAGMENTS ? 1 : 3, FRAGMENTS ? row + 8 : row, sum.w);
}
