// Positions over several axes, with strides, passed by value.
#pragma once
#include "common.cuh"

constexpr int MAX_RANK = 8;
// Axes that are the innermost ones of most positions, from the outermost on.
constexpr int NEAR = 4;

// Division by a number that does not change: Granlund and Montgomery, "Division by invariant integers using
// multiplication" (1994), for dividends below 2^31.
struct Divisor {
    u32 size, multiplier, shift, unused;
    // Without a multiplier the size is 1.
    __device__ __forceinline__ u32 divide(u32 x) const {
        return multiplier ? __umulhi(x, multiplier) >> shift : x;
    }
};

// Shape and the strides of up to three operands, in elements; the last axis is the innermost.
template <int N>
struct Axes {
    Divisor size[MAX_RANK];
    i64 stride[N][MAX_RANK];
    u32 rank;
    u32 wide;  // positions may not fit 31 bits

    // Goes on by what a position says of an axis.
    __device__ __forceinline__ void step(int axis, u32& x, i64 (&at)[N]) const {
        u32 rest = size[axis].divide(x);
        i64 i = x - rest * size[axis].size;
        x = rest;
#pragma unroll
        for (int n = 0; n < N; n++) at[n] += i * stride[n][axis];
    }

    // The offsets of a row-major position.
    __device__ __forceinline__ void offsets(u64 position, i64 (&at)[N]) const {
#pragma unroll
        for (int n = 0; n < N; n++) at[n] = 0;
        if (wide) {
#pragma unroll 1
            for (int axis = (int)rank - 1; axis >= 0; axis--) {
                u64 rest = position / size[axis].size;
                i64 i = (i64)(position - rest * size[axis].size);
                position = rest;
#pragma unroll
                for (int n = 0; n < N; n++) at[n] += i * stride[n][axis];
            }
        } else {
            near((u32)position, at);
        }
    }

    // The same of a position below 2^31 where none is wide: offsets that are added to.
    __device__ __forceinline__ void near(u32 x, i64 (&at)[N]) const {
#pragma unroll 1
        for (int axis = (int)rank - 1; axis >= NEAR; axis--) step(axis, x, at);
        // Of these it is known when the kernel is compiled where sizes and strides are: what is looked up by a register waits.
#pragma unroll
        for (int axis = NEAR - 1; axis > 0; axis--)
            if (axis < (int)rank) step(axis, x, at);
        if (rank > 0) {
#pragma unroll
            for (int n = 0; n < N; n++) at[n] += (i64)x * stride[n][0];
        }
    }
};
