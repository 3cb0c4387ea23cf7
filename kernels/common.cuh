// What the library kernels share: integer names, half types without headers, asynchronous copies.
//
// No header of the toolkit is included, so that the compiler alone (NVRTC) is enough to build everything here.
#pragma once

using i8 = signed char;
using u8 = unsigned char;
using i16 = short;
using u16 = unsigned short;
using i32 = int;
using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

// IEEE half and bfloat16 as bits: arithmetic is done in f32.
struct f16 {
    u16 bits;
};
struct bf16 {
    u16 bits;
};
// f32 operands that the tensor cores read as tf32.
struct tf32 {
    float value;
};

__device__ __forceinline__ float to_f32(float x) { return x; }
__device__ __forceinline__ float to_f32(tf32 x) { return x.value; }
__device__ __forceinline__ float to_f32(bf16 x) { return __uint_as_float((u32)x.bits << 16); }
__device__ __forceinline__ float to_f32(f16 x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}

__device__ __forceinline__ f16 to_f16(float x) {
    f16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}

// To nearest, ties to even; a NaN stays one.
__device__ __forceinline__ bf16 to_bf16(float x) {
    bf16 y;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
#else
    u32 bits = __float_as_uint(x);
    u32 nan = (bits >> 16) | 0x40;
    u32 rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    y.bits = (u16)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
#endif
    return y;
}

template <typename T>
struct Is16 {
    static constexpr bool value = sizeof(T) == 2;
};

// Where a kernel tells of an index that is out of range, in memory that the host sees: `found` last.
struct Fault {
    i64 index;
    u64 found;
};

__device__ __forceinline__ void report(Fault* fault, i64 index) {
    if (!fault) return;
    *(volatile i64*)&fault->index = index;
    __threadfence_system();
    *(volatile u64*)&fault->found = 1;
}

// The same number, which the assembler holds in a register rather than work it out again at each use.
__device__ __forceinline__ u32 held(u32 x) {
    asm volatile("{.reg .u32 %own; mov.u32 %own, %laneid; shfl.sync.idx.b32 %0, %0, %own, 31, 0xffffffff;}" : "+r"(x));
    return x;
}
__device__ __forceinline__ i64 held(i64 x) {
    return (i64)((u64)held((u32)((u64)x >> 32)) << 32 | held((u32)x));
}

__device__ __forceinline__ u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

__device__ __forceinline__ float read4(u32 from) {
    float x;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(x) : "r"(from) : "memory");
    return x;
}
__device__ __forceinline__ float4 read16(u32 from) {
    float4 x;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w) : "r"(from) : "memory");
    return x;
}

#if __CUDA_ARCH__ >= 800
// Copies 16 bytes to shared memory; those beyond `bytes` become zero.
__device__ __forceinline__ void copy16(u32 to, const void* from, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void copy16(u32 to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void copy4(u32 to, const void* from, int bytes) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void copies_end_stage() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Waits until at most `N` of the stages that this thread began are under way.
template <int N>
__device__ __forceinline__ void copies_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
#endif
