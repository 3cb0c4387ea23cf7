// Products on the tensor cores (mma.sync): f16 and bf16, and f32 operands rounded to tf32. Sums are f32.
//
// A warp has a tile of WM by WN sums, in fragments of 16 by 8. Fragments of the next step in k are read from shared
// memory while those of this one are multiplied, across stages too. Lines along k are read by ldmatrix; lines along m or n
// by ldmatrix with transposition, or word by word for tf32, which that instruction cannot transpose.
#include "mma.cuh"
#include "tile.cuh"

constexpr int BM = V_BM, BN = V_BN, BK = V_BK, WM = V_WM, WN = V_WN, STAGES = V_STAGES, SLICE = V_SLICE;
constexpr int GROUPS = V_GROUPS;
constexpr bool A_K = V_A_K, B_K = V_B_K, A_ANY = V_A_ANY, B_ANY = V_B_ANY;
using T = V_T;

constexpr bool HALF = Is16<T>::value;
constexpr int STEP = HALF ? 16 : 8;  // of k, by one instruction
constexpr int WARPS_M = BM / WM, WARPS_N = BN / WN;
constexpr int THREADS = 32 * WARPS_M * WARPS_N;
constexpr int MT = WM / 16, NT = WN / 8, STEPS = BK / STEP;
static_assert(STEPS % 2 == 0 && NT % 2 == 0, "fragments take turns; two are read at once");

constexpr Swizzle LINES_ALONG = HALF ? BY_ROW : BY_PAIR;
using TileA = Tile<T, A_K ? BM : BK, A_K ? BK : BM, A_K ? BY_ROW : LINES_ALONG>;
using TileB = Tile<T, B_K ? BN : BK, B_K ? BK : BN, B_K ? BY_ROW : LINES_ALONG>;
constexpr int STAGE = TileA::BYTES + TileB::BYTES;
constexpr int DEPTH = BK * GROUPS;  // from a stage to the group's next

// Where a thread reads its fragments in a tile, from the tile's beginning. Chunks are exchanged by an exclusive or with a
// number that is the same for all of a thread's lines, and so is what leads from one to another: one place and constants
// make all addresses.
template <typename TILE, bool K_LINES, int LENGTH, bool A>
struct Places {
    u32 at;

    __device__ __forceinline__ Places(u32 mn, u32 lane) {
        if (K_LINES) {
            // Squares of a: rows 0-7 and 8-15 of the first chunk, then of the second; of b: both chunks of columns 0-7,
            // then of 8-15.
            at = TILE::chunk(mn + (A ? lane % 16 : lane % 8 + lane / 16 * 8), A ? lane / 16 : lane / 8 % 2);
        } else if (HALF) {
            at = TILE::chunk(A ? lane % 8 + lane / 16 * 8 : lane % 16, (mn + (A ? lane / 8 % 2 * 8 : lane / 16 * 8)) / TILE::CHUNK);
        } else {
            at = TILE::element(lane % 4, mn + lane / 4);
        }
    }

    // The four words of fragment `i` (16 rows of a, or two fragments of 8 columns of b) in a step.
    __device__ __forceinline__ void read(u32 (&r)[4], u32 tile, int step, int i) const {
        constexpr u32 LINE = LENGTH * sizeof(T);
        if (K_LINES) {
            ldmatrix(r, ((tile + at) ^ step * 32) + i * 16 * LINE);
        } else if (HALF) {
            ldmatrix_transposed(r, ((tile + at) ^ i % 4 * 32) + i / 4 * 128 + step * 16 * LINE);
        } else {
            u32 low = (tile + at) ^ i % 2 * 64, high = low ^ 32, more = i / 2 * 128 + step * 8 * LINE;
            r[0] = word(low + more);
            r[A ? 1 : 2] = word(high + more);
            r[A ? 2 : 1] = word(low + (more + 4 * LINE));
            r[3] = word(high + (more + 4 * LINE));
        }
    }
};

// The fragments of one step in k, for all of a warp's tile.
struct Fragments {
    u32 a[MT][4];
    u32 b[NT / 2][4];  // two fragments each: words 0, 1 and 2, 3

    // One part of `PARTS` of the rounding.
    template <int PARTS>
    __device__ __forceinline__ void round(int part) {
        constexpr int A = MT * 4, ALL = A + NT * 2;
#pragma unroll
        for (int w = 0; w < ALL; w++)
            if (!HALF && w % PARTS == part) {
                if (w < A) round_tf32<HALF>(a[w / 4][w % 4]);
                else round_tf32<HALF>(b[(w - A) / 4][w % 4]);
            }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS * GROUPS, V_BLOCKS) V_NAME(const __grid_constant__ MatMul p) {
    extern __shared__ __align__(128) char memory[];
    u32 group = GROUPS == 1 ? 0 : threadIdx.x / THREADS, thread = threadIdx.x - group * THREADS;
    u32 base = shared_address(memory) + group * (STAGES * STAGE);
    Place at(p);
    u32 k_begin = at.k_begin + group * BK;
    using LoadA = Loader<T, TileA, A_K ? BM : BK, A_K ? BK : BM, A_K, A_ANY, THREADS>;
    using LoadB = Loader<T, TileB, B_K ? BN : BK, B_K ? BK : BN, B_K, B_ANY, THREADS>;
    LoadA a((const T*)p.a + at.a_offset, p.a_row, p.a_k, p.m, at.tile_m * BM, k_begin, thread, DEPTH);
    LoadB b((const T*)p.b + at.b_offset, p.b_col, p.b_k, p.n, at.tile_n * BN, k_begin, thread, DEPTH);

    a.hold();
    b.hold();

    u32 warp = thread / 32, lane = thread % 32;
    u32 row = warp / WARPS_N * WM, col = warp % WARPS_N * WN;

    i32 left = max(0, (i32)(at.k_end - k_begin));
    i32 steps = (left + DEPTH - 1) / DEPTH;
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; s++) {
        if (s < steps) {
            a.copy(base + s * STAGE, left - s * DEPTH);
            b.copy(base + s * STAGE + TileA::BYTES, left - s * DEPTH);
        }
        copies_end_stage();
    }
    float sum[MT][NT][4] = {};
    u32 reading = base, writing = base + (STAGES - 1) * STAGE;
    Fragments f[2];
    Places<TileA, A_K, A_K ? BK : BM, true> places_a(row, lane);
    Places<TileB, B_K, B_K ? BK : BN, false> places_b(col, lane);
    places_a.at = held(places_a.at);
    places_b.at = held(places_b.at);
    auto read = [&](Fragments& to, int step) {
#pragma unroll
        for (int i = 0; i < MT; i++) places_a.read(to.a[i], reading, step, i);
#pragma unroll
        for (int j = 0; j < NT / 2; j++) places_b.read(to.b[j], reading + TileA::BYTES, step, j);
    };
    // Between the products the fragments of the next step are rounded.
    auto multiply = [&](const Fragments& now, Fragments& next) {
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) {
                // Back and forth, so that neighbouring instructions share a fragment.
                int jj = i % 2 ? NT - 1 - j : j;
                mma(sum[i][jj], now.a[i], now.b[jj / 2][jj % 2 * 2], now.b[jj / 2][jj % 2 * 2 + 1], T());
                if (i * NT + j >= MT * NT / 4) next.round<MT * NT * 3 / 4>(i * NT + j - MT * NT / 4);
            }
    };
    copies_wait<STAGES - 2>();
    group_sync<THREADS, GROUPS>(group);
    if (steps > 0) {
        read(f[0], 0);
        f[0].round<1>(0);
    }
#pragma unroll 1
    for (i32 step = 0; step < steps; step++) {
        i32 coming = left - (step + STAGES - 1) * DEPTH;  // of k, for the stage that is copied meanwhile
        bool fast_a = a.fast(coming), fast_b = b.fast(coming);
#pragma unroll
        for (int s = 0; s < STEPS; s++) {
            // Copies are spread over the steps: the registers of their addresses are not free before they are sent.
            if (s == 0 && coming > 0) {
                if (!fast_a) a.slow(writing, coming);
                if (!fast_b) b.slow(writing + TileA::BYTES, coming);
            }
            if (fast_a) a.part<STEPS>(writing, s);
            if (fast_b) b.part<STEPS>(writing + TileA::BYTES, s);
            if (s == STEPS - 1) {
                copies_end_stage();
                writing = writing == base + (STAGES - 1) * STAGE ? base : writing + STAGE;
                reading = reading == base + (STAGES - 1) * STAGE ? base : reading + STAGE;
                copies_wait<STAGES - 2>();
                group_sync<THREADS, GROUPS>(group);
            }
            read(f[(s + 1) % 2], (s + 1) % STEPS);
            multiply(f[s % 2], f[(s + 1) % 2]);
        }
    }
    copies_wait<0>();

    float* stage = (float*)memory;
    store_tile<T, BM, BN, SLICE, THREADS * GROUPS, GROUPS>(p, at, stage, [&](u32 slice) {
        if (warp / WARPS_N * WM / SLICE != slice) return;
#pragma unroll
        for (int i = 0; i < MT; i++)
#pragma unroll
            for (int j = 0; j < NT; j++) {
                float* to = stage + (group * SLICE + row % SLICE + i * 16 + lane / 4) * (BN + 8) + col + j * 8 + lane % 4 * 2;
                *(float2*)to = make_float2(sum[i][j][0], sum[i][j][1]);
                *(float2*)(to + 8 * (BN + 8)) = make_float2(sum[i][j][2], sum[i][j][3]);
            }
    });
}
