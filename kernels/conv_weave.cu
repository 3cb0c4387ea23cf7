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

// A line of the result, and where those of its elements are that leave a rest.
struct Line {
    u32 row, rest, rows, plane;

    __device__ __forceinline__ Line(const Weave& p, u32 plane, u32 y) : plane(plane) {
        row = p.down.divide(y);
        rest = y - row * p.down.size;
        rows = p.down.divide(p.high.size - rest + p.down.size - 1);
    }
};

extern "C" __global__ void __launch_bounds__(256) V_NAME(const __grid_constant__ Weave p) {
    struct alignas(16) Vector {
        T each[EACH];
    };
    u32 at = (blockIdx.x * 256 + threadIdx.x) * EACH;
    if (at >= p.count) return;
    u32 lines = p.wide.divide(at), x = at - lines * p.wide.size;
    u32 plane = p.high.divide(lines), y = lines - plane * p.high.size;
    u32 column = p.right.divide(x), rest = x - column * p.right.size;
    // So many columns leave each rest, and one more those below the last.
    u32 columns = p.right.divide(p.wide.size), more = p.wide.size - columns * p.right.size;
    Line line(p, plane, y);
    Vector v;
#pragma unroll
    for (u32 i = 0; i < EACH; i++) {
        u64 first = p.first[line.rest * p.right.size + rest];
        u32 inside = (line.plane * line.rows + line.row) * (columns + (rest < more)) + column;
        v.each[i] = first != ~0ull && at + i < p.count ? p.from[first + inside] : T();
        if (++rest == p.right.size) rest = 0, column++;
        if (++x == p.wide.size) {
            x = rest = column = 0;
            if (++y == p.high.size) y = 0, plane++;
            line = Line(p, plane, y);
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
