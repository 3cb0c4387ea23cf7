// Tells of the first matrix of several that was refused: of each there is a number that is not 0 then.
#include "common.cuh"

constexpr u32 THREADS = 256;

struct Told {
    const void* info;
    Fault* fault;
    u64 line;   // elements from number to number
    u64 count;
    u32 wide;     // whether it is f64, and not f32
    u32 several;  // whether the matrix is told, counted from 1, above 32 bits of the number
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Told p) {
    __shared__ u64 found[THREADS];
    auto info = [&](u64 i) { return p.wide ? ((const double*)p.info)[i * p.line] : (double)((const float*)p.info)[i * p.line]; };
    u64 first = p.count;
    for (u64 i = threadIdx.x; i < p.count; i += THREADS)
        if (info(i) > 0.0) {
            first = i;
            break;
        }
    found[threadIdx.x] = first;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (u32 t = 1; t < THREADS; t++) first = min(first, found[t]);
    if (first == p.count) return;
    report(p.fault, (i64)((p.several ? first + 1 : 0) << 32 | (u64)info(first)));
}
