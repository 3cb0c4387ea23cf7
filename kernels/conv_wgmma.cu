// Convolutions and their gradients by Hopper's own instructions (wgmma): f16, bf16, and f32 operands rounded to tf32. Sums are f32.
//
// The product of `matmul_wgmma.cu` whose second operand the copy engine gathers: see `conv_tiles.cuh`.
#include "conv_tiles.cuh"

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
// Lines of the operands run along k, but for the gradient by the weight of larger windows.
constexpr bool WEIGHT = V_WEIGHT, POINT = V_POINT, LINES_K = !WEIGHT || POINT;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
constexpr int STEPS = 4;
constexpr int GROUPS = 2, WARPS = 4 * GROUPS;
// Each group of four warps has 64 rows, or all of these and half of the columns.
constexpr bool ACROSS = BM == 64;
constexpr int WIDE = ACROSS ? BN / GROUPS : BN, SUMS = WIDE / 2;
constexpr u32 SLICE = 2048;  // where a warp's sums are turned into rows
using Stages = Ring<T, BM, BN, STAGES, WEIGHT, POINT, WARPS>;
static_assert((ACROSS || BM == 64 * GROUPS) && WIDE % 64 == 0 && (HALF || LINES_K), "");

__device__ __forceinline__ u32 pack(f16, float low, float high) { return to_f16(low).bits | (u32)to_f16(high).bits << 16; }
template <typename T>
__device__ __forceinline__ u32 pack(T, float low, float high) { return to_bf16(low).bits | (u32)to_bf16(high).bits << 16; }

template <int SIZE>
struct Bits {
    using type = u32;
};
template <>
struct Bits<2> {
    using type = u16;
};

__device__ __forceinline__ void read_shared(float4& x, u32 from) { x = read16(from); }
__device__ __forceinline__ void read_shared(float2& x, u32 from) {
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(from) : "memory");
}
__device__ __forceinline__ void read_shared(u32& x, u32 from) { asm volatile("ld.shared.u32 %0, [%1];" : "=r"(x) : "r"(from) : "memory"); }
__device__ __forceinline__ void read_shared(u16& x, u32 from) { asm volatile("ld.shared.u16 %0, [%1];" : "=h"(x) : "r"(from) : "memory"); }

// Stores sixteen lines of 128 bytes of places, in units of `V`.
template <typename U, typename V>
__device__ __forceinline__ void put(const Conv& p, u32 slice, u32 row, u32 first, u32 lane) {
    constexpr u32 COUNT = 128 / sizeof(V), LANES = COUNT < 32 ? COUNT : 32, ROWS = 32 / LANES, TURNS = 16 / ROWS;
#pragma unroll
    for (u32 part = 0; part < COUNT / LANES; part++) {
        u32 unit = part * LANES + lane % LANES, place = first + unit * (sizeof(V) / sizeof(U)), byte = unit * sizeof(V);
        V v[TURNS];
#pragma unroll
        for (u32 i = 0; i < TURNS; i++) {
            u32 r = i * ROWS + lane / LANES;
            read_shared(v[i], slice + r * 128 + ((byte / 16 ^ (r % 8)) << 4) + byte % 16);
        }
        if (place >= p.n) continue;
        u32 r = row + lane / LANES;
        U* to = (U*)p.out + stored_at(p, place) + r * p.plane;
        if (row + 16 <= p.m) {
#pragma unroll
            for (u32 i = 0; i < TURNS; i++, to += ROWS * p.plane) *(V*)to = v[i];
        } else {
#pragma unroll
            for (u32 i = 0; i < TURNS; i++, to += ROWS * p.plane)
                if (r + i * ROWS < p.m) *(V*)to = v[i];
        }
    }
}

// Sixteen rows of a warp's sums, 128 bytes at a time.
__device__ __forceinline__ void store(const Conv& p, u32 slice, u32 row, u32 col, u32 lane, const float (&sum)[SUMS]) {
    constexpr int COUNT = 128 / (HALF ? 2 : 4), FRAGMENTS = COUNT / 8;
    using U = typename Bits<sizeof(T)>::type;
#pragma unroll 1
    for (u32 part = 0; part < WIDE / COUNT; part++) {
        u32 first = col + part * COUNT;
        if (first >= p.n) break;
        __syncwarp();
        // Sums are named by numbers that are known: the one part of all.
#pragma unroll
        for (int s = 0; s < WIDE / COUNT; s++) {
            if (part != s) continue;
            const float* d = sum + s * FRAGMENTS * 4;
            if (HALF) {
                u32 r = lane % 16, c = lane / 16;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j += 2, d += 8)
                    stmatrix(slice + r * 128 + (((j + c) ^ (r % 8)) << 4), pack(T(), d[0], d[1]), pack(T(), d[2], d[3]),
                             pack(T(), d[4], d[5]), pack(T(), d[6], d[7]));
            } else {
                u32 r = lane / 4, c = lane % 4;
#pragma unroll
                for (int j = 0; j < FRAGMENTS; j++, d += 4) {
                    u32 at = slice + r * 128 + (((2 * j + c / 2) ^ r) << 4) + c % 2 * 8;
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(d[0]), "f"(d[1]) : "memory");
                    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at + 1024), "f"(d[2]), "f"(d[3]) : "memory");
                }
            }
        }
        __syncwarp();
        // As many bytes a lane as are aligned, lanes side by side.
        if (p.vector == 16 / sizeof(U))
            put<U, float4>(p, slice, row, first, lane);
        else if (HALF && p.vector == 4)
            put<U, float2>(p, slice, row, first, lane);
        else
            put<U, U>(p, slice, row, first, lane);
    }
}

extern "C" __global__ void __launch_bounds__(128 * (1 + GROUPS), 1) V_NAME(const Conv p) {
    extern __shared__ __align__(1024) u8 memory[];
    // Uniform, as the compiler sees from the exchange.
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 begin = (shared_address(memory) + 1023) & ~1023u;
    Stages ring(p, argument<Conv>(), begin, WEIGHT ? 0 : WARPS * SLICE);

    if (warp < 4) {
        fewer_registers<40>();
        if (threadIdx.x == 0) ring.bring_all(p);
    } else {
        more_registers<232>();
        const u32 group = warp / 4 - 1;
        const u32 slice = begin + STAGES * Stages::STAGE + (warp - 4) * SLICE;
        constexpr u32 STEP_K = LINES_K ? 32 : 16 * 128, APART = Stages::EACH * 128;
        const u64 from_a = matrix<LINES_K>(begin + (ACROSS ? 0 : group * 64 * 128), APART);
        const u64 from_b = matrix<LINES_K>(begin + Stages::BYTES_A + (ACROSS ? group * WIDE * 128 : 0), APART);
        auto release = [&](u32 stage) {
            if (lane == 0) barrier_arrive(ring.empty + stage * 8);
        };
#pragma unroll 1
        while (ring.turn < ring.turns) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            u32 tile, count = ring.take_tile(p, tile);
            u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
            float sum[SUMS];
#pragma unroll
            for (int j = 0; j < SUMS; j++) sum[j] = 0;
            u32 before = STAGES;
#pragma unroll 1
            for (; count > 0; count--) {
                barrier_wait(ring.full + ring.stage * 8, ring.parity);
                settle(sum);
                products_begin();
                const u64 step_a = from_a + ring.stage * (Stages::STAGE / 16), step_b = from_b + ring.stage * (Stages::STAGE / 16);
#pragma unroll
                for (int s = 0; s < STEPS; s++)
                    multiply<LINES_K, LINES_K>(sum, step_a + s * STEP_K / 16, step_b + s * STEP_K / 16, T());
                products_commit();
                products_wait<1>();
                if (before < STAGES) release(before);
                before = ring.stage;
                ring.next();
            }
            products_wait<0>();
            if (before < STAGES) release(before);
            settle(sum);
            if (WEIGHT) {
                float4* part = (float4*)p.parts + (u64)ring.slot(p, tile) * (BM * BN / 4) + (warp - 4) * (SUMS / 4 * 32) + lane;
#pragma unroll
                for (int j = 0; j < SUMS; j += 4) __stcg(part + j * 8, make_float4(sum[j], sum[j + 1], sum[j + 2], sum[j + 3]));
            } else {
                u32 row = tile_m * BM + (ACROSS ? 0 : group * 64) + warp % 4 * 16;
                store(p, slice, row, tile_n * BN + (ACROSS ? group * WIDE : 0), lane, sum);
            }
        }
    }
}
