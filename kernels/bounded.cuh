// For tests, where V_BOUND is defined (`cargo xtask ptx --bound`): who waits for more than so many nanoseconds tells the host what for, and
// ends the kernel. Otherwise nothing of this is there.
#pragma once
#include "common.cuh"

// What is told: memory of the host, which is there when the kernel is not any more. `kernels/bench/driver.py` leaves its address in
// `mg_stuck`, and says it in words.
struct Stuck {
    u32 told, line, place, parity;
    u64 state;  // of the barrier
    u32 block, blocks, thread, threads;
    char file[64], function[64], what[96], made[96];
};
extern "C" {
__device__ Stuck* mg_stuck;
__device__ u32 mg_stuck_tellers;
// Where barriers were made, in words, by their addresses in shared memory; the same in all blocks.
__device__ const char* mg_barriers[128];
}

__device__ __forceinline__ u64 nanoseconds() {
    u64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

template <u32 ROOM>
__device__ __forceinline__ void tell_words(char (&to)[ROOM], const char* words) {
    // The end of a file's path; the rest is another machine's.
    u32 length = 0;
    while (words[length]) length++;
    if (length >= ROOM) words += length - (ROOM - 1);
#pragma unroll 1
    for (u32 i = 0; i < ROOM - 1 && words[i]; i++) ((volatile char*)to)[i] = words[i];
}

// The end of a thread that has waited too long: the first to come tells, and all others leave it the time. The `place` of what it waits for among
// those made alike is the stage.
__device__ __forceinline__ void stuck(const char* file, u32 line, const char* function, const char* what, const char* made, u32 place,
                                      u32 parity, u64 state) {
    Stuck* to = mg_stuck;
    if (to && atomicAdd(&mg_stuck_tellers, 1u) > 0)
        while (true) __nanosleep(1000000);
    if (to) {
        volatile Stuck* s = to;
        s->line = line, s->place = place, s->parity = parity, s->state = state;
        s->block = blockIdx.x, s->blocks = gridDim.x, s->thread = threadIdx.x, s->threads = blockDim.x;
        tell_words(to->file, file);
        tell_words(to->function, function);
        tell_words(to->what, what);
        if (made) tell_words(to->made, made);
        __threadfence_system();
        s->told = 1;
        __threadfence_system();
    }
    __trap();
}
