// Strided copies, transposed copies, fills. Elements are bits of 1 to 16 bytes.
#include "index.cuh"

struct alignas(16) b128 {
    u32 x, y, z, w;
};

// A block of a strided copy has TIMES elements for each thread.
enum : u32 { THREADS = 256, TIMES = 4, BLOCK = THREADS * TIMES };

#ifdef V_FILL
// `count` elements become `bits`.
struct Fill {
    void* out;
    u64 count;
    u64 bits;
};

// Sixteen bytes a thread where the address allows it, element by element at the ends.
extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Fill p) {
    using T = V_T;
    constexpr u32 EACH = 16 / sizeof(T);
    T value = (T)p.bits;
    T* out = (T*)p.out;
    u64 head = min(p.count, (u64)((16 - ((u64)out & 15)) & 15) / sizeof(T));
    u64 body = (p.count - head) / EACH;
    union {
        T each[EACH];
        b128 all;
    } four;
    for (u32 i = 0; i < EACH; i++) four.each[i] = value;
    u64 first = (u64)blockIdx.x * THREADS + threadIdx.x, step = (u64)gridDim.x * THREADS;
    b128* aligned = (b128*)(out + head);
    for (u64 i = first; i < body; i += step) aligned[i] = four.all;
    for (u64 i = first; i < head; i += step) out[i] = value;
    for (u64 i = head + body * EACH + first; i < p.count; i += step) out[i] = value;
}
#endif

// Moves the elements of a problem that its block of this number has.
template <typename T, typename Problem>
__device__ __forceinline__ void move(const Problem& p, u32 block) {
    u64 first = (u64)block * BLOCK + threadIdx.x;
    i64 at[TIMES][2];
    T value[TIMES];
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) {
            p.axes.offsets(first + i * (int)THREADS, at[i]);
            value[i] = ((const T*)p.from)[at[i][1]];
        }
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) ((T*)p.out)[at[i][0]] = value[i];
}

#ifdef V_STRIDED
// Element by element (or in units of several neighbours that both sides have side by side and aligned).
struct Copy {
    void* out;
    const void* from;
    u64 count;
    Axes<2> axes;
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Copy p) {
    move<V_T>(p, blockIdx.x);
}
#endif

#ifdef V_NEIGHBOURS
// Several neighbours of the result a thread, whose sources lie at any distance: where they go is found once for all, and they are stored at once.
struct Neighbours {
    void* out;
    const void* from;
    u64 count;     // of these
    i64 step;      // of the source, from one to the next
    Axes<2> axes;  // of the result in so many, of the source in elements
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Neighbours p) {
    using T = V_T;
    struct alignas(sizeof(T) * V_NEIGHBOURS) Vector {
        T each[V_NEIGHBOURS];
    };
    u64 first = (u64)blockIdx.x * BLOCK + threadIdx.x;
    i64 at[TIMES][2];
    Vector value[TIMES];
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) {
            p.axes.offsets(first + i * (int)THREADS, at[i]);
#pragma unroll
            for (int k = 0; k < V_NEIGHBOURS; k++) value[i].each[k] = ((const T*)p.from)[at[i][1] + k * p.step];
        }
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) ((Vector*)p.out)[at[i][0]] = value[i];
}
#endif

#ifdef V_LINES
// Lines that begin anywhere, to where they begin at multiples of 16 bytes: as many bytes a thread at a time. The last ones of a line end with zeros.
struct Lines {
    void* out;
    const void* from;
    u32 count, length;  // lines, and elements of each
    u32 chunks;         // of 16 bytes of each
    u32 unused;
    i64 from_line, out_line;  // elements from one to the next
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Lines p) {
    using T = V_T;
    constexpr u32 EACH = 16 / sizeof(T);
    const u32 all = p.count * p.chunks, first = blockIdx.x * BLOCK + threadIdx.x;
    union Chunk {
        T each[EACH];
        u32 words[4];
        b128 whole;
    };
    Chunk value[TIMES];
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) {
        const u32 id = first + i * THREADS, line = id / p.chunks, chunk = id - line * p.chunks;
        if (id >= all) continue;
        const T* from = (const T*)p.from + (i64)line * p.from_line + chunk * EACH;
        if (chunk > 0 && (chunk + 1) * EACH < p.length) {
            // Words of four bytes, one more than there are where the first begins before: within the line, too.
            const u32* words = (const u32*)((u64)from & ~3ull);
            const u32 odd = (u32)(u64)from & 2;
#pragma unroll
            for (u32 j = 0; j < 4; j++) value[i].words[j] = words[j];
            if (sizeof(T) == 2 && odd) {
                const u32 last = words[4];
#pragma unroll
                for (u32 j = 0; j < 4; j++) value[i].words[j] = value[i].words[j] >> 16 | (j < 3 ? value[i].words[j + 1] : last) << 16;
            }
        } else {
#pragma unroll
            for (u32 j = 0; j < EACH; j++) value[i].each[j] = chunk * EACH + j < p.length ? from[j] : (T)0;
        }
    }
#pragma unroll
    for (u32 i = 0; i < TIMES; i++) {
        const u32 id = first + i * THREADS, line = id / p.chunks, chunk = id - line * p.chunks;
        if (id < all) *(b128*)((T*)p.out + (i64)line * p.out_line + chunk * EACH) = value[i].whole;
    }
}
#endif

#ifdef V_PARTS
// Several copies that have nothing in common but their result: a launch of its own for each would take longer than they do.
constexpr u32 MOST_PARTS = 8;

struct Part {
    void* out;
    const void* from;
    u64 count;
    u32 first;  // block
    u32 unit;   // bytes
    Axes<2> axes;
};

struct Parts {
    u32 count;
    u32 unused;
    Part parts[MOST_PARTS];
};

template <typename T>
__device__ __forceinline__ void copy(const Part& p) {
    move<T>(p, blockIdx.x - p.first);
}

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Parts p) {
    u32 which = 0;
    for (u32 i = 1; i < p.count; i++)
        if (blockIdx.x >= p.parts[i].first) which = i;
    const Part& part = p.parts[which];
    switch (part.unit) {
        case 1: return copy<u8>(part);
        case 2: return copy<u16>(part);
        case 4: return copy<u32>(part);
        case 8: return copy<u64>(part);
        default: return copy<b128>(part);
    }
}
#endif

#ifdef V_MANY
// As above, over more axes than those have: the outer ones first.
struct Many {
    void* out;
    const void* from;
    u64 count;
    u64 inside;  // positions of the inner axes
    Axes<2> around;
    Axes<2> axes;
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Many p) {
    using T = V_T;
    u64 first = (u64)blockIdx.x * BLOCK + threadIdx.x;
    i64 at[TIMES][2];
    T value[TIMES];
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) {
            u64 position = first + i * (int)THREADS, outside = position / p.inside;
            i64 begin[2];
            p.around.offsets(outside, begin);
            p.axes.offsets(position - outside * p.inside, at[i]);
            at[i][0] += begin[0];
            at[i][1] += begin[1];
            value[i] = ((const T*)p.from)[at[i][1]];
        }
#pragma unroll
    for (int i = 0; i < (int)TIMES; i++)
        if (first + i * (int)THREADS < p.count) ((T*)p.out)[at[i][0]] = value[i];
}
#endif

#ifdef V_PLANE
// Planes whose neighbours along one axis are neighbours in the source and along the other in the result: tiles of SIDE
// rows by ACROSS columns through shared memory, read and written 16 bytes at a time where both sides are aligned for it
// (VECTOR). Blocks that run together work on squares of GROUP by GROUP tiles, so that both sides touch long runs of memory.
struct Plane {
    void* out;
    const void* from;
    u32 rows, columns;  // of the source: columns are its neighbours
    i64 from_row;       // between rows of the source
    i64 out_column;     // between columns of the source, in the result
    u32 tiles_r, tiles_c;
    Axes<2> around;
};

extern "C" __global__ void __launch_bounds__(THREADS) V_NAME(const __grid_constant__ Plane p) {
    using T = V_T;
    constexpr int SIDE = V_SIDE, ACROSS = V_ACROSS, VECTOR = V_VECTOR, GROUP = V_GROUP;
    constexpr int CHUNKS = ACROSS / VECTOR, CHUNKS_OUT = SIDE / VECTOR;  // of a row, of a column
    constexpr int ROWS = (int)THREADS / CHUNKS, COLUMNS = (int)THREADS / CHUNKS_OUT;       // at a time
    struct alignas(VECTOR * sizeof(T)) Vector {
        T each[VECTOR];
    };
    // The chunks of a row are exchanged by its number, so that lanes meet in few banks when columns are read.
    __shared__ Vector tile[SIDE][CHUNKS];
    u32 tiles = p.tiles_r * p.tiles_c;
    u32 plane = blockIdx.x / tiles, id = blockIdx.x - plane * tiles;
    u32 band = id / (GROUP * p.tiles_c), high = min((u32)GROUP, p.tiles_r - band * GROUP);
    id -= band * GROUP * p.tiles_c;
    u32 square = id / (high * GROUP), wide = min((u32)GROUP, p.tiles_c - square * GROUP);
    id -= square * high * GROUP;
    u32 tile_r = band * GROUP + id / wide, tile_c = square * GROUP + id % wide;
    i64 at[2];
    p.around.offsets(plane, at);
    u32 row0 = tile_r * SIDE, column0 = tile_c * ACROSS;
    const T* from = (const T*)p.from + at[1] + (i64)row0 * p.from_row + column0;
    T* out = (T*)p.out + at[0] + (i64)column0 * p.out_column + row0;
    u32 rows = min((u32)SIDE, p.rows - row0), columns = min((u32)ACROSS, p.columns - column0);
    u32 c = threadIdx.x % CHUNKS, line = threadIdx.x / CHUNKS;
    Vector in[SIDE / ROWS];
#pragma unroll
    for (int i = 0; i < SIDE / ROWS; i++) {
        u32 r = line + i * ROWS;
        if (r < rows && c * VECTOR < columns) in[i] = *(const Vector*)(from + (i64)r * p.from_row + c * VECTOR);
    }
#pragma unroll
    for (int i = 0; i < SIDE / ROWS; i++) {
        u32 r = line + i * ROWS;
        tile[r][c ^ r / VECTOR % CHUNKS] = in[i];
    }
    __syncthreads();
    // Eight chunks of four columns a warp: that many fall into different banks.
    constexpr int LANES = CHUNKS_OUT < V_LANES ? CHUNKS_OUT : V_LANES;
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    c = lane % LANES + warp % (CHUNKS_OUT / LANES) * LANES;
    line = lane / LANES + warp / (CHUNKS_OUT / LANES) * (32 / LANES);
#pragma unroll
    for (int i = 0; i < ACROSS / COLUMNS; i++) {
        u32 column = line + i * COLUMNS;
        Vector v;
#pragma unroll
        for (int j = 0; j < VECTOR; j++)
            v.each[j] = tile[c * VECTOR + j][column / VECTOR ^ c % CHUNKS].each[column % VECTOR];
        if (column < columns && c * VECTOR < rows) *(Vector*)(out + (i64)column * p.out_column + c * VECTOR) = v;
    }
}
#endif
