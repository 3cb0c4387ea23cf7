// Elements that lie one after the other, on their way to shared memory and back: 16 bytes a thread at a time, whatever address they begin at.
#pragma once
#include "common.cuh"

// Has elements in shared memory, as they lie to a multiple of 16 bytes. The first one's place comes back.
template <u32 THREADS, typename T>
__device__ __forceinline__ u32 bring(T* to, const T* from, u32 count) {
    constexpr u32 EACH = 16 / sizeof(T), AT_ONCE = 4;
    u32 skip = (u32)((u64)from % 16 / sizeof(T)), end = (skip + count) / EACH, first = skip > 0;
    const uint4* source = (const uint4*)(from - skip);
    for (u32 i = first + threadIdx.x; i < end; i += AT_ONCE * THREADS) {
        uint4 some[AT_ONCE];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            if (i + k * THREADS < end) some[k] = source[i + k * THREADS];
#pragma unroll
        for (u32 k = 0; k < AT_ONCE; k++)
            if (i + k * THREADS < end) ((uint4*)to)[i + k * THREADS] = some[k];
    }
    u32 head = skip ? min(EACH - skip, count) : 0, tail = max(end * EACH, skip + head);
    if (threadIdx.x < head) to[skip + threadIdx.x] = from[threadIdx.x];
    if (tail + threadIdx.x < skip + count) to[tail + threadIdx.x] = from[tail - skip + threadIdx.x];
    return skip;
}

#if __CUDA_ARCH__ >= 800
// The same, under way until the stage of copies is waited for. Of the first 16 bytes those before the elements come along: they are of the same memory, which
// begins at a multiple of 16.
template <u32 THREADS, typename T>
__device__ __forceinline__ u32 bring_ahead(T* to, const T* from, u32 count) {
    constexpr u32 EACH = 16 / sizeof(T);
    const u32 skip = (u32)((u64)from % 16 / sizeof(T)), end = skip + count;
    for (u32 i = threadIdx.x * EACH; i < end; i += THREADS * EACH)
        copy16(shared_address(to + i), from - skip + i, (int)(min(end - i, EACH) * sizeof(T)));
    return skip;
}
#endif

// Where `leave` takes the first of elements from that go to this address.
template <typename T>
__device__ __forceinline__ u32 skipped(const T* to) { return (u32)((u64)to % 16 / sizeof(T)); }

// Has elements in memory that lie in shared memory from `skipped(to)` on.
template <u32 THREADS, typename T>
__device__ __forceinline__ void leave(T* to, const T* from, u32 count) {
    constexpr u32 EACH = 16 / sizeof(T);
    const u32 skip = skipped(to), end = (skip + count) / EACH, first = skip > 0;
    uint4* aligned = (uint4*)(to - skip);
    for (u32 i = first + threadIdx.x; i < end; i += THREADS) aligned[i] = ((const uint4*)from)[i];
    const u32 head = skip ? min(EACH - skip, count) : 0, tail = max(end * EACH, skip + head);
    if (threadIdx.x < head) to[threadIdx.x] = from[skip + threadIdx.x];
    if (tail + threadIdx.x < skip + count) to[tail - skip + threadIdx.x] = from[tail + threadIdx.x];
}
