/* A driver that computes nothing: memory is the host's, launches do nothing, and each call answers what the environment
   says it should. Result codes, 0 unless set:
     STUB_SYNC    of waits and of copies to the host, after the first launch
     STUB_LAUNCH  of launches           STUB_LOAD  of loading PTX        STUB_GRAPH  of making graphs
     STUB_ALLOC   of allocations of more than 32 MiB
     STUB_FOUND   (no code) of waits after a launch: the first so many checks have found something
     STUB_LOST    of every call that does something, after the first launch
     STUB_LARGE   of loading PTX of more than 20 kB; 2, which is for want of memory, until some was given back
     STUB_SLOW    (no code) milliseconds for assembling a text of more than 20 kB by way of a library
     STUB_LATE    (no code) what streams are asked for is done when something waits for it; of the stream of that number, counted
                  from 1, as soon as what it has to wait for itself is done
   STUB_VERSION is the driver's version, STUB_DEVICES the number of devices, STUB_MEMORY the bytes that they have
   together. With STUB_COUNTS it says at the end what was not given back, with STUB_LAUNCHES how many kernels were launched, and
   how many the last graph had. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned U;
typedef void *H;
typedef unsigned long long A;
typedef struct { size_t bytes; char pad[56]; } Header; /* keeps what follows aligned to 64 bytes */

static size_t number(const char *name, size_t otherwise) {
    const char *text = getenv(name);
    return text ? (size_t)strtoull(text, 0, 10) : otherwise;
}
static U code(const char *name) { return (U)number(name, 0); }
static int launched;
static U lost(void) { return launched ? code("STUB_LOST") : 0; }
#define ALIVE if (lost()) return lost()

static size_t used, freed, blocks, events, graphs, gated, texts, alone, launches, nodes, assembling;
__attribute__((destructor)) static void tell(void) {
    if (getenv("STUB_COUNTS"))
        printf("at the end: blocks %zu, events %zu, graphs %zu; freed %zu times; gated texts %zu, alone %zu; launches behind the gate %zu\n",
            blocks, events, graphs, freed, texts, alone, gated);
    if (getenv("STUB_LAUNCHES")) printf("launches %zu, of the last graph %zu\n", launches, nodes);
    if (assembling) printf("a text is being assembled\n");
}

U cuDriverGetVersion(int *v) { *v = (int)number("STUB_VERSION", 12080); return 0; }
U cuInit(U flags) { return 0; }
U cuDeviceGetCount(int *n) { *n = (int)number("STUB_DEVICES", 1); return 0; }
U cuDeviceGet(int *d, int i) { *d = i; return 0; }
U cuDeviceGetName(char *s, int n, int d) { strcpy(s, "Stub"); return 0; }
U cuGetErrorName(U c, const char **s) {
    *s = c == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : c == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : 0;
    return !*s;
}
U cuDeviceGetAttribute(int *v, U a, int d) { *v = a == 75 ? 9 : a == 76 ? 0 : 132; return 0; }
U cuDeviceTotalMem_v2(size_t *n, int d) { *n = number("STUB_MEMORY", 1ull << 34); return 0; }
U cuDeviceCanAccessPeer(int *can, int a, int b) { *can = 1; return 0; }
U cuDevicePrimaryCtxRetain(H *h, int d) { *h = (H)(size_t)(100 + d); return 0; }
U cuCtxSetCurrent(H h) { return lost(); }
U cuCtxEnablePeerAccess(H h, U f) { return 704; }

/* Streams, as far as they differ: each does what it is asked for in its order, and STUB_LATE says when. What was recorded is a mark, of which
   the event knows the last one. */
typedef struct Mark { struct Stream *stream; int is_over; } Mark;
typedef struct Task { struct Task *next; void *to; const void *from; size_t n; int byte; Mark *over, *after; } Task;
typedef struct Stream { Task *first, **last; size_t number; } Stream;
static Stream streams[16];
static size_t n_streams;
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* Does what a stream was asked for until a mark of its own; what others have to do before is done too, or ends it. */
static void go(Stream *s, const Mark *until, int forces) {
    while (s->first && !(until && until->is_over)) {
        Task *t = s->first;
        if (t->after && !t->after->is_over) {
            if (!forces) return;
            go(t->after->stream, t->after, 1);
        }
        if (t->over) t->over->is_over = 1;
        else if (t->from) memmove(t->to, t->from, t->n);
        else if (t->to) memset(t->to, t->byte, t->n);
        s->first = t->next;
        if (!s->first) s->last = &s->first;
        free(t);
    }
}
static void wait_for(Stream *s, const Mark *m) {
    pthread_mutex_lock(&turn);
    go(s, m, 1);
    pthread_mutex_unlock(&turn);
}
static void all(void) { for (size_t i = 0; i < n_streams; i++) wait_for(&streams[i], 0); }
static void ask(H h, Task task) {
    Stream *s = h;
    Task *t = malloc(sizeof *t);
    *t = task;
    t->next = 0;
    pthread_mutex_lock(&turn);
    *s->last = t;
    s->last = &t->next;
    size_t late = number("STUB_LATE", ~0ull);
    if (late == ~0ull) all();
    for (size_t i = 0; i < n_streams; i++)
        if (streams[i].number == late) go(&streams[i], 0, 0);
    pthread_mutex_unlock(&turn);
}

U cuStreamCreate(H *h, U f) {
    Stream *s = &streams[n_streams++];
    s->last = &s->first;
    s->number = n_streams;
    *h = s;
    return 0;
}
static struct { long long index; A found; } *checks;
static void find(void) { for (size_t i = 0; launched && checks && i < number("STUB_FOUND", 0); i++) checks[i].found = 1; }
U cuStreamSynchronize(H h) { ALIVE; wait_for(h, 0); find(); return launched ? code("STUB_SYNC") : 0; }
U cuStreamWaitEvent(H a, H b, U f) {
    ALIVE;
    Mark *m = *(Mark **)b;
    if (m) ask(a, (Task){.after = m});
    return 0;
}
U cuEventCreate(H *h, U f) { ALIVE; *h = calloc(1, sizeof(Mark *)); events++; return 0; }
U cuEventDestroy_v2(H h) { events--; free(h); return 0; } /* what was asked of it is done all the same */
U cuEventRecord(H a, H b) {
    ALIVE;
    Mark *m = calloc(1, sizeof *m);
    m->stream = b;
    *(Mark **)a = m;
    ask(b, (Task){.over = m});
    return 0;
}
U cuEventSynchronize(H a) {
    ALIVE;
    Mark *m = *(Mark **)a;
    if (m) wait_for(m->stream, m);
    find();
    return launched ? code("STUB_SYNC") : 0;
}

U cuMemGetInfo_v2(size_t *f, size_t *t) {
    ALIVE;
    *t = number("STUB_MEMORY", 1ull << 34);
    *f = *t - used;
    return 0;
}
U cuMemAlloc_v2(A *a, size_t n) {
    ALIVE;
    if (n > (1u << 25) && code("STUB_ALLOC")) return code("STUB_ALLOC");
    int scratch = n == 1u << 25; /* what the engine takes when it opens the device */
    if (!scratch && used + n > number("STUB_MEMORY", 1ull << 34)) return 2;
    Header *h = aligned_alloc(64, (n + sizeof(Header) + 63) / 64 * 64);
    memset(h, 0, n + sizeof(Header));
    h->bytes = scratch ? 0 : n;
    used += h->bytes;
    blocks += !scratch;
    *a = (A)(h + 1);
    return 0;
}
U cuMemFree_v2(A a) {
    Header *h = (Header *)a - 1;
    used -= h->bytes;
    blocks--;
    freed++;
    free(h);
    return 0;
}
U cuCtxSynchronize(void) { ALIVE; all(); return 0; }
U cuMemFreeHost(H p) { free(p); return 0; }
U cuMemHostAlloc(H *p, size_t n, U f) { ALIVE; *p = malloc(n); return 0; }
U cuMemHostGetDevicePointer_v2(A *a, H p, U f) { *a = (A)p; if (!checks) checks = p; return 0; }
U cuMemsetD8Async(A a, unsigned char b, size_t n, H s) { ALIVE; ask(s, (Task){.to = (void *)a, .byte = b, .n = n}); return 0; }
U cuMemcpyHtoDAsync_v2(A a, const void *p, size_t n, H s) { ALIVE; ask(s, (Task){.to = (void *)a, .from = p, .n = n}); return 0; }
U cuMemcpyDtoHAsync_v2(void *p, A a, size_t n, H s) { ALIVE; ask(s, (Task){.to = p, .from = (void *)a, .n = n}); return 0; }
U cuMemcpyDtoDAsync_v2(A a, A b, size_t n, H s) { ALIVE; ask(s, (Task){.to = (void *)a, .from = (void *)b, .n = n}); return 0; }
U cuMemcpyPeerAsync(A a, H c, A b, H d, size_t n, H s) {
    ALIVE;
    if (c == d) return 1; /* two contexts, or it is no copy between devices */
    ask(s, (Task){.to = (void *)a, .from = (void *)b, .n = n});
    return 0;
}
static U loading(const char *text) {
    U large = strlen(text) > 20000 ? code("STUB_LARGE") : 0;
    return large && !(large == 2 && freed) ? large : code("STUB_LOAD");
}
static H module(const void *text) { return (H)(size_t)(strstr(text, "mg_gate") ? texts++, 14 : 4); }
U cuModuleLoadDataEx(H *m, const void *i, U n, U *o, H *v) { ALIVE; *m = module(i); alone += *m == (H)14; return loading(i); }
U cuLibraryLoadData(H *l, const void *i, U *o, H *v, U n, U *p, H *w, U m) {
    ALIVE;
    if (strlen(i) > 20000) {
        __sync_fetch_and_add(&assembling, 1);
        usleep(1000 * number("STUB_SLOW", 0));
        __sync_fetch_and_sub(&assembling, 1);
    }
    *l = module(i);
    return loading(i);
}
U cuLibraryGetModule(H *m, H l) { *m = l; return 0; }
U cuModuleGetFunction(H *f, H m, const char *n) { *f = (char *)m + 1; return 0; }
U cuTensorMapEncodeTiled(void *m, U t, U r, A a, const void *d, const void *s, const void *b, const void *e, U i, U w, U l, U f) {
    return 0;
}
U cuTensorMapEncodeIm2col(void *m, U t, U r, A a, const void *d, const void *s, const int *l, const int *h, U c, U p, const void *e, U i, U w, U o, U f) {
    return 0;
}
U cuFuncSetAttribute(H f, U a, int v) { return 0; }
U cuLaunchKernel(H f, U a, U b, U c, U d, U e, U g, U h, H s, H *p, H *x) {
    ALIVE;
    launched = 1;
    launches++;
    gated += f == (H)15;
    return code("STUB_LAUNCH");
}
U cuGraphCreate(H *h, U f) { ALIVE; *h = (H)6; graphs++; nodes = 0; return 0; }
U cuGraphDestroy(H h) { graphs--; return 0; }
U cuGraphAddKernelNode_v2(H *n, H g, const H *d, size_t k, const void *p) { *n = (H)7; nodes++; return 0; }
U cuGraphInstantiateWithFlags(H *e, H g, unsigned long long f) { *e = 0; if (code("STUB_GRAPH")) return code("STUB_GRAPH"); *e = (H)8; graphs++; return 0; }
U cuGraphExecKernelNodeSetParams_v2(H e, H n, const void *p) { return 0; }
U cuGraphExecDestroy(H e) { graphs--; return 0; }
U cuGraphLaunch(H e, H s) { ALIVE; return 0; }
