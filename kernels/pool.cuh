// Windows over planes, as the kernels of pooling see them: `V_T` is what the operands hold.
#pragma once
#include "index.cuh"

using T = V_T;

#if V_HALF
using W = float;
__device__ __forceinline__ W widen(T x) { return to_f32(x); }
#else
using W = T;
__device__ __forceinline__ W widen(T x) { return x; }
#endif
template <typename N>
__device__ __forceinline__ N narrow(N x, N) { return x; }
__device__ __forceinline__ f16 narrow(float x, f16) { return to_f16(x); }
__device__ __forceinline__ bf16 narrow(float x, bf16) { return to_bf16(x); }

__device__ __forceinline__ float least(float) { return -__int_as_float(0x7f800000); }
__device__ __forceinline__ double least(double) { return -__longlong_as_double(0x7ff0000000000000ll); }
// Of integers: all bits that a sign does not stand for.
template <typename N>
__device__ __forceinline__ N least(N) { return (N)-1 < (N)0 ? (N)(1ull << (8 * sizeof(N) - 1)) : (N)0; }

struct Axis {
    Divisor in, out, kernel, stride, dilation;
    i32 padding;
    u32 unused;
};

constexpr u32 THREADS = 256;

struct Pool {
    void* out;
    const T* a;
    const T* b;
    const T* c;
    u64 count;      // elements of the result of a thread's first plane, over all threads
    u64 planes;
    u64 inputs, outputs;  // elements and windows of a plane
    u64 places;     // of a window
    i64 number;     // what sums are divided by, where `share` is 2
    Divisor part;   // results of a plane
    Axis axis[3];
    u32 share;      // what sums are divided by: the places of a window, its elements, a number
    u32 adaptive;
    u32 wide;       // positions may not fit 31 bits
    u32 together;   // whether a warp has a window, of which a mean is asked
    u32 each;       // planes of a thread: what it finds out of a place serves for all of them
    u32 unused;
};

struct Window {
    i32 first, count, step;
};

// The share of an axis that is an output's own begins here; with `round`, where the one before it ends.
__device__ __forceinline__ u32 begin(const Divisor& in, const Divisor& out, u32 o, u32 round, bool wide) {
    u64 at = (u64)o * in.size + round;
    return wide ? (u32)(at / out.size) : out.divide((u32)at);
}

__device__ __forceinline__ Window window(const Axis& a, u32 o) {
    i32 start = (i32)(o * a.stride.size) - a.padding, step = (i32)a.dilation.size;
    i32 before = start < 0 ? (i32)a.dilation.divide((u32)(step - 1 - start)) : 0;
    i32 first = start + before * step;
    i32 inside = first < (i32)a.in.size ? (i32)a.dilation.divide(a.in.size - (u32)first + (u32)step - 1) : 0;
    return {first, max(min((i32)a.kernel.size - before, inside), 0), step};
}
__device__ __forceinline__ Window window(const Pool& p, const Axis& a, u32 o) {
    if (!p.adaptive) return window(a, o);
    u32 first = begin(a.in, a.out, o, 0, p.wide);
    return {(i32)first, (i32)(begin(a.in, a.out, o + 1, a.out.size - 1, p.wide) - first), 1};
}

// The outputs whose windows may hold an input.
struct Readers {
    u32 from, to;
};
__device__ __forceinline__ Readers readers(const Pool& p, const Axis& a, u32 i) {
    if (p.adaptive) return {begin(a.out, a.in, i, 0, p.wide), begin(a.out, a.in, i + 1, a.in.size - 1, p.wide)};
    u32 at = i + (u32)a.padding, reach = a.dilation.size * (a.kernel.size - 1);
    u32 to = min(a.stride.divide(at) + 1, a.out.size);
    u32 from = at > reach ? a.stride.divide(at - reach + a.stride.size - 1) : 0;
    return {from, to};
}
// The places of a window that lie on the axis or its margins.
__device__ __forceinline__ i64 places(const Axis& a, u32 o) {
    u32 start = o * a.stride.size;
    return (i64)min(start + a.kernel.size, a.in.size + 2 * (u32)a.padding) - start;
}
// The place of an input in a window, or -1 where the window steps over it.
__device__ __forceinline__ i32 place(const Pool& p, const Axis& a, u32 i, u32 o) {
    if (p.adaptive) return 0;
    u32 at = i + (u32)a.padding - o * a.stride.size, k = a.dilation.divide(at);
    return k * a.dilation.size == at ? (i32)k : -1;
}

// Where something is in a plane, which has less than 2^31 elements.
__device__ __forceinline__ i32 linear(const Pool& p, i32 z, i32 y, i32 x) {
    return (z * (i32)p.axis[1].in.size + y) * (i32)p.axis[2].in.size + x;
}
__device__ __forceinline__ u32 linear_out(const Pool& p, u32 z, u32 y, u32 x) {
    return (z * p.axis[1].out.size + y) * p.axis[2].out.size + x;
}

// Where the largest element of a window stands: of equal ones the first, of NaNs the last.
__device__ __forceinline__ i32 largest(const Pool& p, const T* x, const Window (&w)[3]) {
    W best = least(W());
    i32 at = linear(p, min(w[0].first, (i32)p.axis[0].in.size - 1), min(w[1].first, (i32)p.axis[1].in.size - 1),
                    min(w[2].first, (i32)p.axis[2].in.size - 1));
    for (i32 z = 0; z < w[0].count; z++)
        for (i32 y = 0; y < w[1].count; y++) {
            i32 line = linear(p, w[0].first + z * w[0].step, w[1].first + y * w[1].step, w[2].first);
            for (i32 k = 0; k < w[2].count; k++, line += w[2].step) {
                W v = widen(x[line]);
                if (v > best || v != v) best = v, at = line;
            }
        }
    return at;
}
