// What Hopper alone has, compute capability 9.0: barriers in shared memory, the copy engine, products of four warps.
//
// Matrices in shared memory have lines of 128 bytes, eight chunks of 16, of which each eight lines are exchanged by an exclusive or
// with the line's number; tiles begin at multiples of 1024 bytes.
#pragma once
#include "common.cuh"
#ifdef V_BOUND
#include "bounded.cuh"
#endif

// A tensor as the copy engine is told of it: made by the driver on the host.
struct alignas(64) TensorMap {
    u64 words[16];
};

#define TEXT(x) #x
#define NAME(x) TEXT(x)
// Where the kernel's one argument lies, for the copy engine. To the compiler it is a value, whose fields are read at once: by its address
// they would come from memory.
template <typename P>
__device__ __forceinline__ const P* argument() {
    const P* at;
    asm("{.reg .b64 %own;mov.b64 %own, " NAME(V_NAME) "_param_0;cvta.param.u64 %0, %own;}" : "=l"(at));
    return at;
}

// A barrier counts arrivals, and bytes that the copy engine brings. Each time that all have come its phase changes, of which
// only the parity is told.
__device__ __forceinline__ void barrier_init(u32 barrier, u32 count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
// Makes initialised barriers known to the copy engine.
__device__ __forceinline__ void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Arrives, and tells of bytes that will come.
__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ bool barrier_passed(u32 barrier, u32 parity) {
    u32 passed;
    asm volatile("{.reg .pred %p;mbarrier.try_wait.parity.shared::cta.b64 %p, [%1], %2;selp.u32 %0, 1, 0, %p;}"
                 : "=r"(passed)
                 : "r"(barrier), "r"(parity)
                 : "memory");
    return passed;
}
// Waits until the phase of this parity is over.
__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    while (!barrier_passed(barrier, parity)) {
    }
}

#ifdef V_BOUND
// For tests: a barrier says where it was made, and one that is not passed for V_BOUND nanoseconds ends the kernel.
__device__ __forceinline__ void barrier_named(u32 barrier, u32 count, const char* made) {
    mg_barriers[barrier / 8 % 128] = made;
    barrier_init(barrier, count);
}
__device__ __forceinline__ void barrier_bounded(u32 barrier, u32 parity, const char* file, u32 line, const char* function, const char* what) {
    const u64 begin = nanoseconds();
    while (!barrier_passed(barrier, parity)) {
        if (nanoseconds() - begin <= V_BOUND) continue;
        const u32 at = barrier / 8 % 128;
        const char* made = mg_barriers[at];
        u32 place = 0;
        while (place < at && mg_barriers[at - place - 1] == made) place++;
        u64 state;
        asm volatile("ld.shared.u64 %0, [%1];" : "=l"(state) : "r"(barrier) : "memory");
        stuck(file, line, function, what, made, place, parity, state);
    }
}
#define barrier_init(barrier, count) barrier_named(barrier, count, #barrier)
#define barrier_wait(barrier, parity) barrier_bounded(barrier, parity, __FILE__, __LINE__, __func__, #barrier)
#endif

// Initialises the barriers of a ring's stages, two of each: at so many arrivals it is full, or empty.
__device__ __forceinline__ void ring_init(u32 full, u32 empty, u32 stages, u32 fill, u32 drain) {
    for (u32 s = 0; s < stages; s++) {
        barrier_init(full + s * 8, fill);
        barrier_init(empty + s * 8, drain);
    }
}

__device__ __forceinline__ void prefetch(const TensorMap* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
// Brings a box of a tensor of three dimensions; what lies outside of the tensor is zero. The barrier is told of all its bytes.
__device__ __forceinline__ void bring(u32 to, const TensorMap* map, u32 barrier, u32 x, u32 y, u32 z) {
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
                 : "memory");
}
// Brings lines of neighbours at places of a tensor of four dimensions (neighbours, x, y, image), one place after the other, line by
// line and image by image: from this place on, each moved by dx and dy. What lies outside of the tensor is zero.
__device__ __forceinline__ void bring_places(u32 to, const TensorMap* map, u32 barrier, u32 neighbour, i32 x, i32 y, u32 image, u32 dx,
                                             u32 dy) {
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2], "
        "{%7, %8};" ::"r"(to),
        "l"(map), "r"(barrier), "r"(neighbour), "r"(x), "r"(y), "r"(image), "h"((u16)dx), "h"((u16)dy)
        : "memory");
}
// The same of a tensor of four dimensions.
__device__ __forceinline__ void bring(u32 to, const TensorMap* map, u32 barrier, u32 x, u32 y, u32 z, u32 w) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(to),
                 "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "r"(w)
                 : "memory");
}
// Takes a box from shared memory to a tensor, except what lies outside of it.
__device__ __forceinline__ void take(const TensorMap* map, u32 from, u32 x, u32 y, u32 z) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(from), "r"(x),
                 "r"(y), "r"(z)
                 : "memory");
}
__device__ __forceinline__ void take(const TensorMap* map, u32 from, u32 x, u32 y, u32 z, u32 w) {
    asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(from), "r"(x),
                 "r"(y), "r"(z), "r"(w)
                 : "memory");
}
// Ends a group of such boxes; it may be empty.
__device__ __forceinline__ void taken_end() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until at most `N` of this thread's groups still have to be read from shared memory.
template <int N>
__device__ __forceinline__ void taken() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}
// What was written to shared memory before is seen by the copy engine and the tensor cores.
__device__ __forceinline__ void written() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// How many registers the threads of this group of four warps have from here on.
template <int N>
__device__ __forceinline__ void fewer_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void more_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

// A matrix in shared memory, as the products are told of it. Its lines run along m or n, and each 64 of these are followed by the next `apart` bytes
// on, each eight k by the next `further` bytes on.
__device__ __forceinline__ u64 matrix(u32 at, u32 apart, u32 further) {
    u64 description = (u64)1 << 62 | (u64)(further >> 4) << 32 | (u64)(apart >> 4) << 16;
    return description | (at & 0x3ffff) >> 4;
}
// The same, line after line. LINES_K: lines run along k.
template <bool LINES_K>
__device__ __forceinline__ u64 matrix(u32 at, u32 apart) {
    return matrix(at, LINES_K ? 16 : apart, 1024);
}

__device__ __forceinline__ void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most `N` of the groups of products are under way.
template <int N>
__device__ __forceinline__ void products_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// Operands of an instruction with so many sums, in text and as constraints.
#define NAMES_0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define NAMES_1 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define NAMES_2 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define NAMES_3 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define SUMS8(d, i) \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define SUMS32(d, i) SUMS8(d, i), SUMS8(d, i + 8), SUMS8(d, i + 16), SUMS8(d, i + 24)
#define NAMES_32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define NAMES_48 NAMES_32 ",%16,%17,%18,%19,%20,%21,%22,%23"
#define NAMES_64 NAMES_0
#define NAMES_128 NAMES_64 "," NAMES_1
#define NAMES_144 NAMES_128 ",%64,%65,%66,%67,%68,%69,%70,%71"
#define NAMES_192 NAMES_128 "," NAMES_2
#define NAMES_256 NAMES_192 "," NAMES_3
#define SUMS_32 SUMS8(d, 0), SUMS8(d, 8)
#define SUMS_48 SUMS_32, SUMS8(d, 16)
#define SUMS_64 SUMS32(d, 0)
#define SUMS_128 SUMS_64, SUMS32(d, 32)
#define SUMS_144 SUMS_128, SUMS8(d, 64)
#define SUMS_192 SUMS_128, SUMS32(d, 64)
#define SUMS_256 SUMS_192, SUMS32(d, 96)

// Adds the product of 64 rows of a and N columns of b to the sums. Thread 32 w + l of the four warps has, of each eight columns, those at
// 2 (l % 4) and next to it, of row 16 w + l / 4 and of the row eight further down.
#define PRODUCT_HALF(N, A, B, TURN_A, TURN_B, T)                                                                           \
    template <bool A_K, bool B_K>                                                                                          \
    __device__ __forceinline__ void multiply(float (&d)[N / 2], u64 a, u64 b, T) {                                         \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, 1, 0;wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #T "." #T   \
                     " {" NAMES_##N "}, %" #A ", %" #B ", %yes, 1, 1, %" #TURN_A ", %" #TURN_B ";}"                        \
                     : SUMS_##N                                                                                            \
                     : "l"(a), "l"(b), "n"(A_K ? 0 : 1), "n"(B_K ? 0 : 1)                                                  \
                     : "memory");                                                                                          \
    }
#define PRODUCT_TF32(N, A, B)                                                                                              \
    template <bool A_K, bool B_K>                                                                                          \
    __device__ __forceinline__ void multiply(float (&d)[N / 2], u64 a, u64 b, tf32) {                                      \
        static_assert(A_K && B_K, "lines of tf32 run along k");                                                            \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, 1, 0;wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {"   \
                     NAMES_##N "}, %" #A ", %" #B ", %yes, 1, 1;}"                                                         \
                     : SUMS_##N                                                                                            \
                     : "l"(a), "l"(b)                                                                                      \
                     : "memory");                                                                                          \
    }
#define PRODUCTS(N, A, B, TURN_A, TURN_B)         \
    PRODUCT_HALF(N, A, B, TURN_A, TURN_B, bf16)   \
    PRODUCT_HALF(N, A, B, TURN_A, TURN_B, f16)    \
    PRODUCT_TF32(N, A, B)
PRODUCT_HALF(32, 16, 17, 18, 19, bf16)
PRODUCT_HALF(32, 16, 17, 18, 19, f16)
PRODUCT_TF32(32, 16, 17)
PRODUCT_HALF(48, 24, 25, 26, 27, bf16)
PRODUCT_HALF(48, 24, 25, 26, 27, f16)
PRODUCTS(64, 32, 33, 34, 35)
PRODUCTS(128, 64, 65, 66, 67)
PRODUCTS(192, 96, 97, 98, 99)
PRODUCTS(256, 128, 129, 130, 131)

// The same of f16 or bf16 rows that the threads hold: of each 16 along k, registers have two neighbours each, those of row 16 w + l / 4 and of the
// row eight further down at k = 2 (l % 4), and the same eight k further on. So pairs of sums lie, rounded.
#define PRODUCT_HELD(N, A0, A1, A2, A3, B, TURN_B, T)                                                                      \
    template <bool B_K>                                                                                                    \
    __device__ __forceinline__ void multiply_held(float (&d)[N / 2], const u32* a, u64 b, T) {                             \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, 1, 0;wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." #T "." #T   \
                     " {" NAMES_##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", %yes, 1, 1, %" #TURN_B ";}"     \
                     : SUMS_##N                                                                                            \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "n"(B_K ? 0 : 1)                                \
                     : "memory");                                                                                          \
    }
#define PRODUCTS_HELD(N, A0, A1, A2, A3, B, TURN_B)         \
    PRODUCT_HELD(N, A0, A1, A2, A3, B, TURN_B, bf16)        \
    PRODUCT_HELD(N, A0, A1, A2, A3, B, TURN_B, f16)
// Of tf32 it is one number a register, and of each 8 along k those at l % 4, in both rows, and then those four further on.
#define PRODUCT_HELD_TF32(N, A0, A1, A2, A3, B)                                                                            \
    __device__ __forceinline__ void multiply_held(float (&d)[N / 2], const u32* a, u64 b, tf32) {                          \
        asm volatile("{.reg .pred %yes;setp.ne.u32 %yes, 1, 0;wgmma.mma_async.sync.aligned.m64n" #N "k8.f32.tf32.tf32 {"   \
                     NAMES_##N "}, {%" #A0 ", %" #A1 ", %" #A2 ", %" #A3 "}, %" #B ", %yes, 1, 1;}"                        \
                     : SUMS_##N                                                                                            \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                                                  \
                     : "memory");                                                                                          \
    }
PRODUCTS_HELD(64, 32, 33, 34, 35, 36, 37)
PRODUCT_HELD_TF32(64, 32, 33, 34, 35, 36)
PRODUCTS_HELD(128, 64, 65, 66, 67, 68, 69)
PRODUCT_HELD_TF32(128, 64, 65, 66, 67, 68)
PRODUCTS_HELD(144, 72, 73, 74, 75, 76, 77)
PRODUCTS_HELD(192, 96, 97, 98, 99, 100, 101)
PRODUCT_HELD_TF32(192, 96, 97, 98, 99, 100)
PRODUCTS_HELD(256, 128, 129, 130, 131, 132, 133)
PRODUCT_HELD_TF32(256, 128, 129, 130, 131, 132)

// Sums are not read before, nor written after.
template <int COUNT>
__device__ __forceinline__ void settle(float (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+f"(d[i])::"memory");
}

// Writes two fragments of eight rows and eight columns of 16-bit elements, one below the other, and the two to their right; lane
// l tells where row l % 8 of fragment l / 8 goes.
__device__ __forceinline__ void stmatrix(u32 to, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}
// The same, turned: lane l tells where column l % 8 of fragment l / 8 goes.
__device__ __forceinline__ void stmatrix_turned(u32 to, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}
