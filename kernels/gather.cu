// Elements by index: out[.., j, ..] = x[.., index[.., j, ..], ..].
#include "index.cuh"

struct alignas(16) b128 {
    u32 x, y, z, w;
};

// Units of a block.
constexpr u32 THREADS = 256, TIMES = 4, BLOCK = THREADS * TIMES;

struct Gather {
    void* out;
    const void* x;
    const i64* index;
    Fault* fault;
    u64 count;          // units of the result
    i64 limit;          // valid indices are below
    i64 axis_stride;    // of x, in units
    Divisor row;        // units that share an index and lie side by side
    u32 wide;
    u32 wraps;          // negative indices count from the end
    Axes<2> axes;       // around the rows: of the index in elements, of x in units, without the axis
};

// An index that is out of range reads zero.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Gather p) {
    using T = V_T;
    u64 first = (u64)blockIdx.x * BLOCK + threadIdx.x;
    T value[TIMES];
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++) {
        u64 unit = first + i * (int)THREADS;
        if (unit >= p.count) continue;
        u64 position = p.wide ? unit / p.row.size : (u64)p.row.divide((u32)unit);
        i64 at[2];
        p.axes.offsets(position, at);
        i64 given = p.index[at[0]], index = given + (p.wraps && given < 0 ? p.limit : 0);
        if (index >= 0 && index < p.limit) {
            value[i] = ((const T*)p.x)[at[1] + index * p.axis_stride + (i64)(unit - position * p.row.size)];
        } else {
            value[i] = T();
            report(p.fault, given);
        }
    }
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) ((T*)p.out)[first + i * (int)THREADS] = value[i];
}
