// Planes of which every so manyth line and column lie together, as the gradient by the input of a convolution with steps leaves them,
// put together. Elements are bits.
#include "index.cuh"

using T = V_T;
constexpr u32 EACH = 16 / sizeof(T), MOST = 16;

struct Weave {
    void* out;
    const T* from;
    u32 count;        // elements
    u32 vector;       // 16 bytes are stored at a time
    u64 first[MOST];  // where those lie whose line and column leave these rests: ~0 where they are zero
    Divisor high, wide, down, right;
};

extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Weave p) {
    struct alignas(16) Vector {
        T each[EACH];
    };
    u32 at = (blockIdx.x * 256 + threadIdx.x) * EACH;
    if (at >= p.count) return;
    u32 line = p.wide.divide(at), x = at - line * p.wide.size;
    u32 plane = p.high.divide(line), y = line - plane * p.high.size;
    Vector v;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        u32 row = p.down.divide(y), column = p.right.divide(x);
        u32 rest_y = y - row * p.down.size, rest_x = x - column * p.right.size;
        u64 first = p.first[rest_y * p.right.size + rest_x];
        // So many lines and columns leave these rests.
        u32 rows = p.down.divide(p.high.size - rest_y + p.down.size - 1);
        u32 columns = p.right.divide(p.wide.size - rest_x + p.right.size - 1);
        bool is = first != ~0ull && at + i < p.count;
        v.each[i] = is ? p.from[first + ((u64)plane * rows + row) * columns + column] : T();
        if (++x == p.wide.size) {
            x = 0;
            if (++y == p.high.size) y = 0, plane++;
        }
    }
    T* out = (T*)p.out + at;
    if (p.vector && at + EACH <= p.count) {
        *(Vector*)out = v;
    } else {
#pragma unroll
        for (u32 i = 0; i < EACH; i++)
            if (at + i < p.count) out[i] = v.each[i];
    }
}
