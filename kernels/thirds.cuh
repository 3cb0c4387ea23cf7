// Products of f32 on tensor cores, with all bits: each number is the sum of three of bf16, its thirds, which have its 24 bits together.
//
// Of nine products of thirds the three smallest are left out: together they are less than 2^-23 of the product of the numbers, and less
// than 2^-27 on the average; rounding it is off by up to 2^-24. (XLA's highest precision on TPUs does so, too; Henry, Tang and Heinecke,
// "Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations", 2019.) Tensor cores cut sums off where f32 rounds them, so they add up 32 products at a
// time, smallest thirds first, and the threads add those sums, rounded (Ootomo and Yokota, "Recovering single precision accuracy from
// Tensor Cores while surpassing the FP32 theoretical peak performance", 2022).
//
// Besides the thread that asks for stages, four warps make thirds of b, in shared memory, in a ring of their own. The warps that multiply
// make those of a, in registers, while products are under way.
#pragma once
#include "hopper.cuh"
#include "mend.cuh"

constexpr int SPLITTERS = 4;  // warps

// Sums that are below this, though not 0, may be of factors whose last third bf16 does not hold.
constexpr u32 LEAST = (127 - 86) << 23, INFINITE = 0x7f800000;

// Two numbers rounded to bf16, the first in the lower half; they become what is left of them.
__device__ __forceinline__ u32 take_third(float& x, float& y) {
    u32 both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(y), "f"(x));
    x = __fsub_rn(x, __uint_as_float(both << 16));
    y = __fsub_rn(y, __uint_as_float(both & 0xffff0000));
    return both;
}
__device__ __forceinline__ void split(float x, float y, u32& first, u32& second, u32& third) {
    first = take_third(x, y);
    second = take_third(x, y);
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(third) : "f"(y), "f"(x));
}

__device__ __forceinline__ void write16(u32 to, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Zero, once all lanes of the warp have these bits. A barrier that is arrived at does not wait for reads of shared memory that are under
// way, and the copy engine may write there before they come; so its address is made of what was read. (Seen on an H200: one element of
// some ten million products was another stage's.)
__device__ __forceinline__ u32 nothing_of(u32 bits) {
    u32 all;
    asm volatile("redux.sync.or.b32 %0, %1, 0xffffffff;" : "=r"(all) : "r"(bits));
    // By 32, which the assembler does not know.
    asm volatile("{.reg .u32 %own;mov.u32 %own, %ntid.x;shr.u32 %own, %own, 4;shr.u32 %0, %0, %own;}" : "+r"(all));
    return all;
}

// An element of a stage whose lines run along m or n, 32 each.
__device__ __forceinline__ u32 across(u32 row, u32 k) {
    return row / 32 * (32 * 128) + k * 128 + ((row % 32 / 4 ^ k % 8) << 4) + row % 4 * 4;
}

// A matrix whose lines have 64 bytes, four chunks of 16, of which each two lines are exchanged by an exclusive or with half their number.
__device__ __forceinline__ u64 matrix_of_thirds(u32 at) {
    return (u64)2 << 62 | (u64)(512 >> 4) << 32 | (u64)1 << 16 | (at & 0x3ffff) >> 4;
}

#define NEW8(d, i) \
    "=f"(d[i]), "=f"(d[i + 1]), "=f"(d[i + 2]), "=f"(d[i + 3]), "=f"(d[i + 4]), "=f"(d[i + 5]), "=f"(d[i + 6]), "=f"(d[i + 7])
#define NEW32(d, i) NEW8(d, i), NEW8(d, i + 8), NEW8(d, i + 16), NEW8(d, i + 24)
#define NEW_32 NEW8(d, 0), NEW8(d, 8)
#define NEW_64 NEW32(d, 0)
#define NEW_128 NEW_64, NEW32(d, 32)
#define NEW_144 NEW_128, NEW8(d, 64)
// As `multiply_held`, and the sums are of nothing before.
#define PRODUCT_FIRST(N, A0, A1, A2, A3, B)                                                                                \
    __device__ __forceinline__ void multiply_first(float (&d)[N / 2], const u32* a, u64 b) {                               \
        asm volatile("{.reg .pred %no;setp.ne.u32 %no, 0, 0;wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {"    \
                     NAMES_##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", %no, 1, 1, 0;}"                      \
                     : NEW_##N                                                                                             \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                  \
                     : "memory");                                                                                          \
    }
PRODUCT_HELD(32, 16, 17, 18, 19, 20, 21, bf16)
PRODUCT_FIRST(32, 16, 17, 18, 19, 20)
PRODUCT_FIRST(64, 32, 33, 34, 35, 36)
PRODUCT_FIRST(128, 64, 65, 66, 67, 68)
PRODUCT_FIRST(144, 72, 73, 74, 75, 76)

// Thirds of a that a thread multiplies: of both products of a stage, as `multiply_held` has them.
//
// The order of k in products does not matter as long as it is one for both operands. Where lines of a run along k, a thread has four
// neighbours of each of its two rows, those at 8 c + 4 s: of the eight chunks of a line each second one, so that two rows meet no bank twice.
template <bool A_K>
struct Held {
    u32 thirds[3][2][4];

    // Which of a stage's 32 is the `k`th of the 16 of product s.
    static __device__ __forceinline__ u32 place(u32 s, u32 k) {
        return A_K ? k % 8 / 2 * 8 + 4 * s + k / 8 * 2 + k % 2 : 16 * s + k;
    }

    // From a stage of a; `row` is the thread's first. Answers with bits of all that was read.
    __device__ __forceinline__ u32 read(u32 stage, u32 row, u32 c) {
        u32 bits = 0;
#pragma unroll
        for (u32 s = 0; s < 2; s++)
#pragma unroll
            for (u32 i = 0; i < 2; i++) {
                float4 x;
                const u32 own = row + 8 * i;
                if (A_K) {
                    x = read16(stage + own * 128 + ((2 * c + s ^ own % 8) << 4));
                } else {
                    x.x = read4(stage + across(own, 16 * s + 2 * c));
                    x.y = read4(stage + across(own, 16 * s + 2 * c + 1));
                    x.z = read4(stage + across(own, 16 * s + 2 * c + 8));
                    x.w = read4(stage + across(own, 16 * s + 2 * c + 9));
                    bits |= __float_as_uint(x.y) | __float_as_uint(x.z) | __float_as_uint(x.w);
                }
                bits |= __float_as_uint(x.x);
                split(x.x, x.y, thirds[0][s][i], thirds[1][s][i], thirds[2][s][i]);
                split(x.z, x.w, thirds[0][s][i + 2], thirds[1][s][i + 2], thirds[2][s][i + 2]);
            }
        return bits;
    }

    // Products that read it are over.
    __device__ __forceinline__ void settle() {
#pragma unroll
        for (int t = 0; t < 3; t++)
#pragma unroll
            for (int s = 0; s < 2; s++)
#pragma unroll
                for (int i = 0; i < 4; i++) asm volatile("" : "+r"(thirds[t][s][i])::"memory");
    }
};

// The rings of a block, as one of its warps goes through them: stages as they were brought, a's lines and behind them those of b, and the thirds of
// b. WARPS multiply, each 64 rows and `N` columns with three others.
template <bool A_K, bool B_K, int BM, int BN, int N, int STAGES, int READY, int WARPS>
struct Thirds {
    static constexpr u32 THIRD = BN * 64;  // lines of 32 numbers along k
    static constexpr u32 BYTES_A = BM * 128, STAGE = BYTES_A + BN * 128, ALL_READY = READY * 3 * THIRD;
    static_assert(THIRD % 1024 == 0, "");

    u32 stages, full, empty, ready, split_full, split_empty;
    u32 stage, parity, done, done_parity;

    // `full`: barriers of the stages, and behind them those of empty ones. `own`: room for the barriers of thirds, which are made here.
    __device__ __forceinline__ Thirds(u32 stages, u32 full, u32 ready, u32 own)
        : stages(stages), full(full), empty(full + STAGES * 8), ready(ready), split_full(own), split_empty(own + READY * 8),
          stage(0), parity(0), done(0), done_parity(0) {
        if (threadIdx.x == 0)
            for (int s = 0; s < READY; s++) {
                barrier_init(split_full + s * 8, SPLITTERS);
                barrier_init(split_empty + s * 8, WARPS);
            }
    }

    __device__ __forceinline__ void next() {
        if (++stage == STAGES) stage = 0, parity ^= 1;
    }
    __device__ __forceinline__ void next_done() {
        if (++done == READY) done = 0, done_parity ^= 1;
    }
    static __device__ __forceinline__ void arrive(u32 barrier) {
        if (threadIdx.x % 32 == 0) barrier_arrive(barrier);
    }

    // Has the thirds of so many stages of b stand in shared memory, lines along k: thread after thread those of 16 numbers of a row at a time.
    __device__ __forceinline__ void split_stages(u32 count, u32 thread) {
#pragma unroll 1
        for (; count > 0; count--) {
            barrier_wait(full + stage * 8, parity);
            barrier_wait(split_empty + done * 8, done_parity ^ 1);
            const u32 from = stages + stage * STAGE + BYTES_A, to = ready + done * 3 * THIRD;
#pragma unroll 1
            for (u32 task = thread; task < 2 * BN; task += 32 * SPLITTERS) {
                const u32 s = task / BN;
                split_row(to, from, task - s * BN, s);
            }
            written();
            __syncwarp();
            arrive(split_full + done * 8);
            arrive(empty + stage * 8);
            next();
            next_done();
        }
    }

    static __device__ __forceinline__ void split_row(u32 to, u32 from, u32 row, u32 s) {
        float x[16];
#pragma unroll
        for (u32 i = 0; i < 16; i += 4) {
            if (B_K) {
                // Four neighbours are so in products, or two and two.
                const u32 at = A_K ? 2 * i + 4 * s : 16 * s + i;
                float4 v = read16(from + row * 128 + ((at / 4 ^ row % 8) << 4));
                const u32 first = A_K ? i / 2 : i, then = A_K ? i / 2 + 8 : i + 2;
                x[first] = v.x, x[first + 1] = v.y, x[then] = v.z, x[then + 1] = v.w;
            } else {
#pragma unroll
                for (u32 j = i; j < i + 4; j++) x[j] = read4(from + across(row, Held<A_K>::place(s, j)));
            }
        }
        u32 thirds[3][8];
#pragma unroll
        for (u32 i = 0; i < 8; i++) split(x[2 * i], x[2 * i + 1], thirds[0][i], thirds[1][i], thirds[2][i]);
#pragma unroll
        for (u32 t = 0; t < 3; t++)
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                const u32 at = to + t * THIRD + row * 64 + ((2 * s + half ^ row / 2 % 4) << 4);
                write16(at, thirds[t][4 * half], thirds[t][4 * half + 1], thirds[t][4 * half + 2], thirds[t][4 * half + 3]);
            }
    }

    __device__ __forceinline__ void read(Held<A_K>& to, u32 row) {
        barrier_wait(full + stage * 8, parity);
        const u32 bits = to.read(stages + stage * STAGE, row, threadIdx.x % 4);
        arrive(empty + stage * 8 + nothing_of(bits));
        next();
    }

    // The sums of so many stages, of this thread's rows from `row` on and of this warp's columns.
    __device__ __forceinline__ void multiply(u32 count, u32 row, u32 col, float (&sum)[N / 2]) {
        const u64 from = matrix_of_thirds(ready + col * 64);
        Held<A_K> held, following;
        float some[N / 2];
#pragma unroll
        for (int j = 0; j < N / 2; j++) sum[j] = 0;
        if (count > 0) read(held, row);
#pragma unroll 1
        for (; count > 0; count--) {
            barrier_wait(split_full + done * 8, done_parity);
            const u64 b = from + done * (3 * THIRD / 16);
            products_begin();
            // Third i of a and third j of b, where i + j is 2, 1, and 0: the smallest first.
            multiply_first(some, held.thirds[2][0], b);
            multiply_held<true>(some, held.thirds[2][1], b + 2, bf16());
#pragma unroll
            for (int rank = 2; rank >= 0; rank--)
#pragma unroll
                for (int i = rank == 2 ? 1 : rank; i >= 0; i--)
#pragma unroll
                    for (int s = 0; s < 2; s++)
                        multiply_held<true>(some, held.thirds[i][s], b + (rank - i) * (THIRD / 16) + 2 * s, bf16());
            products_commit();
            if (count > 1) read(following, row);
            products_wait<0>();
            settle(some);
            held.settle();
            arrive(split_empty + done * 8);
            next_done();
#pragma unroll
            for (int j = 0; j < N / 2; j++) sum[j] = __fadd_rn(sum[j], some[j]);
            if (count > 1) held = following;
        }
    }
};

// Whether a sum has to be added up again, number by number: it is not finite, as thirds of infinities are not, or very small.
__device__ __forceinline__ bool is_doubtful(float sum) {
    const u32 size = __float_as_uint(sum) & 0x7fffffff;
    return size != 0 && size - LEAST >= INFINITE - LEAST;
}

// Adds doubtful sums up again: `exact(row, col)` says what they are, from the warp's first row and column on, where there are such.
template <int COUNT, typename Exact>
__device__ __forceinline__ void mend(float (&sum)[COUNT], u32 lane, Exact exact) {
    mend(sum, lane, [](float x) { return is_doubtful(x); }, exact);
}
