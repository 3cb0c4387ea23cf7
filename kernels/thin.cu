// Which weights of attention stay, as truth values in memory: for what is done to weights one by one.
#include "thin.cuh"

// EACH: neighbours whose numbers are of one block.
enum : u32 { THREADS = 256, EACH = 8 };

struct Thin {
    u8* out;
    const void* seeds;  // of matrices
    u64 count;          // of eight neighbours each
    u32 first;          // the first row's number
    u32 rows, columns, eighths;
    u32 left_out;       // weights with lower numbers are left out
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Thin p) {
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < p.count; i += (u64)gridDim.x * THREADS) {
        u64 line = i / p.eighths;
        u32 eighth = (u32)(i - line * p.eighths), matrix = (u32)(line / p.rows);
        u32 words[4];
        thin_block(words, eighth, p.first + (u32)(line - (u64)matrix * p.rows), Seeds(p.seeds, matrix));
        u8* out = p.out + line * p.columns + eighth * EACH;
        u32 bytes[2] = {0, 0};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            bytes[0] |= (u32)((words[j] & 0xffff) >= p.left_out) << 8 * j;
            bytes[1] |= (u32)(words[j] >> 16 >= p.left_out) << 8 * j;
        }
        if (p.columns % EACH == 0) {
            *(uint2*)out = make_uint2(bytes[0], bytes[1]);
        } else {
            u32 n = min(p.columns - eighth * EACH, (u32)EACH);
#pragma unroll
            for (u32 j = 0; j < EACH; j++)
                if (j < n) out[j] = (u8)(bytes[j / 4] >> j % 4 * 8);
        }
    }
}
