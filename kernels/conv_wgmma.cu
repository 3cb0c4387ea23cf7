// Convolutions and their gradients by Hopper's own instructions (wgmma): f16, bf16, f32 operands rounded to tf32, and f32 by thirds. Sums
// are f32.
//
// The product of `matmul_wgmma.cu` whose second operand the copy engine gathers: see `conv_tiles.cuh`.
#include "conv_tiles.cuh"
#ifdef V_READY
#include "thirds.cuh"
#endif

constexpr int BM = V_BM, BN = V_BN, STAGES = V_STAGES;
// Lines of the operands run along k, but for the gradient by the weight of larger windows.
constexpr bool WEIGHT = V_WEIGHT, POINT = V_POINT, LINES_K = !WEIGHT || POINT;
// Rows are places and columns are filters.
constexpr bool PLACES = V_PLACES;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
// Of four warps, each of which multiply 64 rows. Where columns are few, what a stage costs besides the products is hidden by others' products.
constexpr int GROUPS = PLACES ? BM / 64 : 2, WARPS = 4 * GROUPS;
// Each group of four warps has 64 rows, or all of these and half of the columns.
constexpr bool ACROSS = BM == 64;
constexpr int WIDE = ACROSS ? BN / GROUPS : BN, SUMS = WIDE / 2;
constexpr u32 SLICE = 2048;  // where a warp's sums are turned into rows
#ifdef V_READY
constexpr int READY = V_READY;
// Registers of threads that bring, split and multiply.
constexpr int OF_BRING = 24, OF_SPLIT = WIDE > 128 || GROUPS > 2 ? 56 : 72;
constexpr int OF_MULTIPLY = WIDE > 128 ? 216 : GROUPS == 2 ? 208 : GROUPS == 3 ? 128 : 96;
static_assert(OF_BRING + OF_SPLIT + GROUPS * OF_MULTIPLY <= 512 - 512 % (8 * (2 + GROUPS)), "");
using Stages = Ring<T, BM, BN, STAGES, WEIGHT, POINT, WARPS + SPLITTERS, false, PLACES>;
using Rings = Thirds<LINES_K, LINES_K, BM, BN, WIDE, STAGES, READY, WARPS>;
static_assert(!HALF && WIDE % 16 == 0 && (!PLACES || !WEIGHT && !ACROSS && WIDE % 32 == 0), "");
#else
constexpr int STEPS = 4;
using Stages = Ring<T, BM, BN, STAGES, WEIGHT, POINT, WARPS>;
static_assert(WIDE % 64 == 0 && (HALF || LINES_K) && !PLACES, "");
#endif
static_assert(ACROSS || BM == 64 * GROUPS, "");

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

// Where 16 bytes of a place's sixteen channels lie in a slice: places whose first bytes would meet a bank are exchanged.
template <typename U>
__device__ __forceinline__ u32 channels_at(u32 place, u32 chunk) {
    constexpr u32 CHUNKS = sizeof(U);
    return (place * CHUNKS + (chunk ^ place / (8 / CHUNKS) % CHUNKS)) * 16;
}

// Turns 128 bytes' worth of columns of a warp's sixteen rows, so that a column's rows are neighbours: a place's channels, or a channel's places.
__device__ __forceinline__ void turn(u32 slice, u32 lane, const float* d) {
    using U = typename Bits<sizeof(T)>::type;
    if (HALF) {
        const u32 place = lane / 16 * 8 + lane % 8, half = lane / 8 % 2;
#pragma unroll
        for (u32 j = 0; j < 64; j += 16, d += 8)
            stmatrix_turned(slice + channels_at<U>(j + place, half), pack(T(), d[0], d[1]), pack(T(), d[2], d[3]), pack(T(), d[4], d[5]),
                            pack(T(), d[6], d[7]));
    } else {
        const u32 r = lane / 4, c = lane % 4 * 2;
#pragma unroll
        for (u32 j = 0; j < 32; j += 8, d += 4)
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                const u32 row = r + i / 2 * 8;
                asm volatile("st.shared.f32 [%0], %1;" ::"r"(slice + channels_at<U>(j + c + i % 2, row / 4) + row % 4 * 4), "f"(d[i]) : "memory");
            }
    }
}

// Stores a slice of sixteen channels of 128 bytes' worth of places, where channels are innermost: all that a place has of them at a time.
template <typename U>
__device__ __forceinline__ void put_channels(const Conv& p, u32 slice, u32 row, u32 first, u32 lane) {
    constexpr u32 CHUNKS = sizeof(U), PLACES = 128 / sizeof(U), EACH = 32 / CHUNKS;
    const u32 chunk = lane % CHUNKS, channel = row + chunk * (16 / sizeof(U));
    float4 v[PLACES / EACH];
#pragma unroll
    for (u32 i = 0; i < PLACES / EACH; i++) v[i] = read16(slice + channels_at<U>(i * EACH + lane / CHUNKS, chunk));
#pragma unroll
    for (u32 i = 0; i < PLACES / EACH; i++) {
        const u32 place = first + i * EACH + lane / CHUNKS;
        if (place < p.n && channel < p.m) *(float4*)((U*)p.out + stored_at(p, place) + channel) = v[i];
    }
}

// Stores a slice of PLACES element by element.
template <typename U>
__device__ __forceinline__ void put_each(const Conv& p, u32 slice, u32 row, u32 first, u32 lane) {
    const u32 place = row + lane % 16;
    if (place >= p.n) return;
    U* to = (U*)p.out + stored_at(p, place);
#pragma unroll 4
    for (u32 i = lane / 16; i < 32; i += 2) {
        U x;
        read_shared(x, slice + channels_at<U>(i, lane % 16 / 4) + lane % 4 * 4);
        if (first + i < p.m) to[(first + i) * p.plane] = x;
    }
}

// Four neighbours of a slice.
template <typename H>
__device__ __forceinline__ float4 read_four(u32 from, H) {
    float2 x;
    read_shared(x, from);
    const u32 low = __float_as_uint(x.x), high = __float_as_uint(x.y);
    return make_float4(to_f32(H{(u16)low}), to_f32(H{(u16)(low >> 16)}), to_f32(H{(u16)high}), to_f32(H{(u16)(high >> 16)}));
}
__device__ __forceinline__ float4 read_four(u32 from, float) { return read16(from); }
__device__ __forceinline__ float4 read_four(u32 from, tf32) { return read16(from); }
__device__ __forceinline__ void put_four(u16* to, float4 v) { *(uint2*)to = make_uint2(pack(T(), v.x, v.y), pack(T(), v.z, v.w)); }
__device__ __forceinline__ void put_four(u32* to, float4 v) { *(float4*)to = v; }

// As `put` and `put_channels`, behind a mark as that of `finish_rows` (matmul.cuh): four neighbours at a time, of places or, where these are innermost, of
// channels. Rows of the mark are filters of an image, or all places. What it names is rounded already.
template <typename U>
__device__ __forceinline__ void finish(const Conv& p, u32 slice, u32 row, u32 first, u32 lane) {
    // A lane has every so manyth line of sixteen.
    constexpr u32 APART = sizeof(U), UNITS = 32 / APART, BYTES = 4 * APART;
    const bool innermost = p.each > 1, turned = innermost != PLACES;
    const u32 unit = turned ? lane % 4 : lane % UNITS, byte = unit * BYTES;
    u32 line = turned ? lane / 4 % APART + lane / (4 * APART) * 16 : lane / UNITS;
    const u32 begin = turned ? first : row, rows = innermost ? p.n : p.m;
    u32 image = 0, column = (turned ? row : first) + unit * 4;
    if (column >= (innermost ? p.m : p.n)) return;
    if (!innermost) {
        image = p.places.divide(column);
        column -= image * p.places.size;
    }
#pragma unroll 1
    for (u32 i = 0; i < 16 / APART; i += 4, line += 4 * APART) {
        if (begin + line >= rows) return;
        float4 v[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 l = line + j * APART;
            const u32 at = turned ? channels_at<U>(l, byte / 16) : l * 128 + ((byte / 16 ^ l % 8) << 4);
            v[j] = read_four(slice + at + byte % 16, T());
        }
        asm volatile("// mg.epilogues %19 %0 %1 %2 %3 %4 %5 %6 %7 %8 %9 %10 %11 %12 %13 %14 %15 %16 %17 %18"
                     : "+f"(v[0].x), "+f"(v[0].y), "+f"(v[0].z), "+f"(v[0].w), "+f"(v[1].x), "+f"(v[1].y), "+f"(v[1].z), "+f"(v[1].w),
                       "+f"(v[2].x), "+f"(v[2].y), "+f"(v[2].z), "+f"(v[2].w), "+f"(v[3].x), "+f"(v[3].y), "+f"(v[3].z), "+f"(v[3].w)
                     : "r"(image), "r"(begin + line), "r"(column), "n"(APART));
        if (!p.out) continue;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
            const u32 l = begin + line + j * APART;
            if (l >= rows) break;
            put_four((U*)p.out + (innermost ? stored_at(p, l) : image * p.image + l * p.plane) + column, v[j]);
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
        if (first >= (PLACES ? p.m : p.n)) break;
        __syncwarp();
        // Sums are named by numbers that are known: the one part of all.
#pragma unroll
        for (int s = 0; s < WIDE / COUNT; s++) {
            if (part != s) continue;
            const float* d = sum + s * FRAGMENTS * 4;
            if ((p.each > 1) != PLACES) {
                turn(slice, lane, d);
            } else if (HALF) {
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
        if (PLACES && p.each == 1 && p.vector == 1)
            put_each<U>(p, slice, row, first, lane);
        else if (PLACES || !p.vector)
            finish<U>(p, slice, row, first, lane);
        else if (p.each > 1)
            put_channels<U>(p, slice, row, first, lane);
        else if (p.vector == 16 / sizeof(U))
            put<U, float4>(p, slice, row, first, lane);
        else if (HALF && p.vector == 4)
            put<U, float2>(p, slice, row, first, lane);
        else
            put<U, U>(p, slice, row, first, lane);
    }
}

#ifndef V_READY
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
#else
// Where a place's window has an element of a tap; null outside of the image.
__device__ __forceinline__ const float* seen(const Conv& p, const Window& at, u32 down, u32 right) {
    const i32 y = at.y + (i32)(down * p.apart_y), x = at.x + (i32)(right * p.apart_x);
    if (y < 0 || y >= p.size_y || x < 0 || x >= p.size_x) return nullptr;
    return p.own_b + at.image * p.b_image + y * p.b_line + x * p.b_place;
}

// An element of a tile, number by number: of WEIGHT, over `count` stages from `first` on.
__device__ __forceinline__ float exact(const Conv& p, u32 row, u32 col, u32 first, u32 count) {
    constexpr u32 EACH = Stages::EACH;
    float sum = 0;
    if (row >= p.m) return sum;
    if (POINT) {
        if (col >= p.chunks * EACH) return sum;
#pragma unroll 1
        for (u32 k = first; k < first + count; k++) {
            const u32 image = p.places.divide(k), place = (k - image * p.places.size) * EACH;
            const float* a = p.own_a + image * p.a_tap + row * p.a_line;
            const float* b = p.own_b + image * p.b_image + col * p.b_line;
            if (col < p.depth)
                for (u32 i = place; i < min(place + EACH, p.n); i++) sum = __fmaf_rn(a[i], b[i], sum);
        }
    } else if (WEIGHT) {
        const u32 chunk = col / EACH, tap = chunk / p.chunks, c = (chunk - tap * p.chunks) * EACH + col % EACH;
        if (tap >= p.taps || c >= p.depth) return sum;
        const u32 down = tap / p.taps_wide, right = tap - down * p.taps_wide;
#pragma unroll 1
        for (u32 k = first * EACH; k < min((first + count) * EACH, p.n); k++) {
            const float* b = seen(p, Window(p, k), down, right);
            sum = __fmaf_rn(p.own_a[k * p.a_line + row], b ? b[c] : 0, sum);
        }
    } else {
        if (col >= p.n) return sum;
        const Window at(p, col);
#pragma unroll 1
        for (u32 tap = 0; tap < p.taps; tap++) {
            const u32 down = tap / p.taps_wide, right = tap - down * p.taps_wide;
            const i32 of_weight = p.tap_first + (i32)down * p.tap_down + (i32)right * p.tap_right;
            const float* a = p.own_a + of_weight * (i64)p.a_tap + row * p.a_line;
            const float* b = seen(p, at, down, right);
            for (u32 c = 0; c < p.depth; c++) sum = __fmaf_rn(a[c], b ? b[c] : 0, sum);
        }
    }
    return sum;
}

extern "C" __global__ void __launch_bounds__(128 * (2 + GROUPS), 1) V_NAME(const Conv p) {
    extern __shared__ __align__(1024) u8 memory[];
    const u32 warp = __shfl_sync(~0u, threadIdx.x / 32, 0), lane = threadIdx.x % 32;
    const u32 begin = (shared_address(memory) + 1023) & ~1023u, ready = begin + STAGES * Stages::STAGE;
    constexpr u32 BETWEEN = Rings::ALL_READY + (WEIGHT ? 0 : WARPS * SLICE);
    const u32 full = ready + BETWEEN;
    Rings rings(begin, full, ready, full + STAGES * 16);
    Stages ring(p, argument<Conv>(), begin, BETWEEN);

    if (warp < 4) {
        fewer_registers<OF_BRING>();
        if (threadIdx.x == 0) ring.bring_all(p);
    } else if (warp < 4 + SPLITTERS) {
        fewer_registers<OF_SPLIT>();
#pragma unroll 1
        while (ring.turn < ring.turns) {
            u32 tile;
            rings.split_stages(ring.take_tile(p, tile), threadIdx.x - 128);
        }
    } else {
        more_registers<OF_MULTIPLY>();
        const u32 mine = warp - 4 - SPLITTERS, slice = ready + Rings::ALL_READY + mine * SLICE;
        const u32 own = (ACROSS ? 0 : mine / 4 * 64) + mine % 4 * 16, own_col = ACROSS ? mine / 4 * WIDE : 0;
#pragma unroll 1
        while (ring.turn < ring.turns) {
            // Lanes that went ways of their own meet again: the products ask for whole warps.
            __syncwarp();
            const u32 first = WEIGHT ? ring.turn % p.steps : 0;
            u32 tile, count = ring.take_tile(p, tile);
            const u32 tile_n = tile / p.tiles_m, tile_m = tile - tile_n * p.tiles_m;
            const u32 row = (PLACES ? tile_n : tile_m) * BM + own, col = (PLACES ? tile_m : tile_n) * BN + own_col;
            float sum[SUMS];
            rings.multiply(count, own + lane / 4, own_col, sum);
            mend(sum, lane, [&](u32 r, u32 c) {
                return PLACES ? exact(p, col + c, row + r, first, count) : exact(p, row + r, col + c, first, count);
            });
            if (WEIGHT) {
                float* part = p.parts + (u64)ring.slot(p, tile) * (BM * BN) + (own + lane / 4) * BN + own_col + lane % 4 * 2;
#pragma unroll
                for (int j = 0; j < SUMS; j += 4, part += 8) {
                    __stcg((float2*)part, make_float2(sum[j], sum[j + 1]));
                    __stcg((float2*)(part + 8 * BN), make_float2(sum[j + 2], sum[j + 3]));
                }
            } else {
                store(p, slice, row, col, lane, sum);
            }
        }
    }
}
#endif
