// Products of tf32 of which the threads hold one operand, the one whose lines run along m or n: from shared memory the instruction takes lines along k alone.
// The copy engine has rounded both operands on their way.
//
// What is held is the first operand of the instruction. Where that is b, sums are those of the result turned.
#pragma once
#include "hopper.cuh"

template <typename T>
struct IsTf32 {
    static constexpr bool value = false;
};
template <>
struct IsTf32<tf32> {
    static constexpr bool value = true;
};

__device__ __forceinline__ void write8(u32 to, float x, float y) {
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(x), "f"(y) : "memory");
}
__device__ __forceinline__ void read8(u32 from, u32& x, u32& y) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(from) : "memory");
}

// Waits for the other warp of a pair.
__device__ __forceinline__ void pair_sync(u32 pair) { asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory"); }
// Whether it is so for any thread of both.
__device__ __forceinline__ bool pair_any(u32 pair, bool is_so) {
    u32 any;
    asm volatile("{.reg .pred %own, %all;setp.ne.u32 %own, %1, 0;bar.red.or.pred %all, %2, 64, %own;selp.u32 %0, 1, 0, %all;}"
                 : "=r"(any)
                 : "r"((u32)is_so), "r"(pair + 1)
                 : "memory");
    return any;
}

// Which row of the sums is which of the operand is free to choose, so that a thread's two rows are neighbours, which it reads at once, and that reads meet no
// bank twice: a line's chunks of 16 bytes are exchanged by an exclusive or with k % 8, so threads at four places of k read rows that are 16 apart. Of each 32
// rows one warp has 0 to 7 and 16 to 23, the next one the rest. This tells which of its sixteen a thread has first.
__device__ __forceinline__ u32 held_row(u32 lane) {
    const u32 q = lane / 4;
    return q / 2 % 2 * 8 + q / 4 * 4 + q % 2 * 2;
}

// The rows that a thread of the warps that multiply holds.
struct HeldRows {
    u32 at, then;  // where its rows lie in the first stage: at the first of its places of k, and four further on

    // Stages of the operand begin at `from`; `warp` is one of those that multiply.
    __device__ __forceinline__ HeldRows(u32 from, u32 warp, u32 lane) {
        const u32 row = held_row(lane), k = lane % 4, chunk = row / 8 * 4 + warp % 2 * 2 + row % 8 / 4;
        at = from + warp / 2 * 4096 + k * 128 + ((chunk ^ k) << 4) + row % 4 * 4;
        then = (at ^ 64) + 512;
    }

    // The sums of so many stages. `others`: the other operand in the first stage.
    template <int STAGES, u32 STAGE, int SUMS>
    __device__ __forceinline__ void multiply(u32 count, u64 others, u32 full, u32 empty, u32& stage, u32& parity, float (&sum)[SUMS]) const {
        u32 some[4][4], following[4][4];
#pragma unroll
        for (int j = 0; j < SUMS; j++) sum[j] = 0;
#pragma unroll
        for (int s = 0; s < 4; s++)
#pragma unroll
            for (int i = 0; i < 4; i++) following[s][i] = 0;
        u32 now = stage, before = STAGES;
        auto release = [&]() {
            if (before < STAGES && threadIdx.x % 32 == 0) barrier_arrive(empty + before * 8);
        };
        auto read = [&](u32 (&rows)[4][4]) {
            barrier_wait(full + stage * 8, parity);
            now = stage;
#pragma unroll
            for (u32 s = 0; s < 4; s++) {
                read8(at + stage * STAGE + s * 1024, rows[s][0], rows[s][1]);
                read8(then + stage * STAGE + s * 1024, rows[s][2], rows[s][3]);
            }
            if (++stage == STAGES) stage = 0, parity ^= 1;
        };
        // Multiplies what was read and reads what comes next, if anything does.
        auto step = [&](u32 (&rows)[4][4], u32 (&next)[4][4]) {
            settle(sum);
            products_begin();
#pragma unroll
            for (int s = 0; s < 4; s++) multiply_held(sum, rows[s], others + now * (STAGE / 16) + 2 * s, tf32());
            products_commit();
            // Those of the stage before are over: it is free, and so are its registers.
            products_wait<1>();
#pragma unroll
            for (int s = 0; s < 4; s++)
#pragma unroll
                for (int i = 0; i < 4; i++) asm volatile("" : "+r"(next[s][i])::"memory");
            release();
            before = now;
            if (--count == 0) return false;
            read(next);
            return true;
        };
        read(some);
#pragma unroll 1
        while (step(some, following) && step(following, some)) {
        }
        products_wait<0>();
        release();
        settle(sum);
    }
};
