// Images, or filters, with their channels innermost, where planes are too short or not aligned for `copy.cu`'s tiles: a block brings
// 128 bytes of channels of some neighbouring places to shared memory, and writes each place's channels 16 bytes a thread. Elements are
// bits.
#include "index.cuh"

using T = V_T;
constexpr u32 EACH = 16 / sizeof(T), CHANNELS = 128 / sizeof(T), PLACES = 64, ROW = PLACES + 4 / sizeof(T);

struct Spread {
    T* out;
    const T* from;
    u64 from_image, from_channel;
    u64 to_image, to_place;
    u32 channels, line;  // that there are; that are written, a multiple of 16 bytes: the others are zero
    u32 places;          // of a plane,
    u32 tiles_p, tiles_c;
    u32 unused;
    Divisor wide;        // and of a block
};

extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Spread p) {
    __shared__ T tile[CHANNELS * ROW];
    u32 block = blockIdx.x / p.tiles_c, channel0 = (blockIdx.x - block * p.tiles_c) * CHANNELS;
    u32 image = block / p.tiles_p, place0 = (block - image * p.tiles_p) * p.wide.size;
    u32 places = min(p.wide.size, p.places - place0), channels = min(CHANNELS, p.channels - channel0);
    const T* from = p.from + image * p.from_image + channel0 * p.from_channel + place0;
    constexpr u32 LOADS = CHANNELS * PLACES / 256;
    T in[LOADS];
#pragma unroll
    for (u32 i = 0; i < LOADS; i++) {
        u32 at = i * 256 + threadIdx.x, c = p.wide.divide(at), x = at - c * p.wide.size;
        in[i] = c < channels && x < places ? from[c * p.from_channel + x] : T();
    }
#pragma unroll
    for (u32 i = 0; i < LOADS; i++) {
        u32 at = i * 256 + threadIdx.x, c = p.wide.divide(at), x = at - c * p.wide.size;
        if (c < CHANNELS) tile[c * ROW + x] = in[i];
    }
    __syncthreads();
    struct alignas(16) Vector {
        T each[EACH];
    };
    u32 c = threadIdx.x % 8 * EACH;
    if (channel0 + c >= p.line) return;
    T* out = p.out + image * p.to_image + place0 * p.to_place + channel0 + c;
    for (u32 x = threadIdx.x / 8; x < places; x += 32) {
        Vector v;
#pragma unroll
        for (u32 i = 0; i < EACH; i++) v.each[i] = tile[(c + i) * ROW + x];
        *(Vector*)(out + x * p.to_place) = v;
    }
}
