// Kernels are run on the processor: emulate.py compiled them. Threads of a block take turns at barriers, shuffles and votes.
//
// One thread runs at a time, until it waits or ends. In even phases between barriers the first of a block comes first, in odd ones the
// last: what lacks a barrier reads too early in one of them. Shared memory and new memory hold NaN.

#define _GNU_SOURCE
#include "driver.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

const int runs_kernels = 1;

enum { MOST_THREADS = 1024, WARP = 32, STACK = 128 << 10, MOST_EXCHANGED = 64 };

// What emulate.h declares of a kernel's surroundings.
struct Index { unsigned x, y, z; };
struct Index threadIdx, blockIdx, blockDim, gridDim;
char *emulated_shared;

// A kernel: its library has these symbols.
struct Kernel {
    void (*run)(void **parameters);
    const char *name;
    // No thread waits for another one.
    int is_plain;
};

Result cuModuleLoadData(void **module, const void *image) {
    static const char MARK[] = "EMULATED ";
    if (strncmp(image, MARK, sizeof MARK - 1) != 0) return ERROR_INVALID_IMAGE;
    // Libraries of kernels find the symbols of this one only if it shows them to all.
    Dl_info own;
    dladdr(&threadIdx, &own);
    dlopen(own.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
    void *library = dlopen((const char *)image + sizeof MARK - 1, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return ERROR_INVALID_IMAGE;
    }
    struct Kernel *kernel = malloc(sizeof *kernel);
    if (!kernel) return ERROR_OUT_OF_MEMORY;
    *(void **)&kernel->run = dlsym(library, "emulated_run");
    kernel->name = dlsym(library, "emulated_name");
    kernel->is_plain = *(const int *)dlsym(library, "emulated_is_plain");
    *module = kernel;
    return SUCCESS;
}

Result cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = module;
    return SUCCESS;
}

// --- Threads of a block.

enum State { READY, AT_WARP, AT_BLOCK, OVER };

struct Thread {
    enum State state;
    jmp_buf place;
    char *stack;
    struct Index index;
    // Where it waits for its block.
    void *barrier;
};

static struct Thread threads[MOST_THREADS];
static unsigned thread_count, running;
static jmp_buf scheduler;
static const struct Kernel *kernel;
static void **kernel_parameters;

static void die(const char *problem) {
    fprintf(stderr, "emulated kernel %s, block %u,%u,%u, thread %u: %s\n", kernel->name, blockIdx.x, blockIdx.y, blockIdx.z,
            running, problem);
    abort();
}

static void leave(enum State state) {
    struct Thread *own = &threads[running];
    own->state = state;
    if (_setjmp(own->place) == 0) _longjmp(scheduler, 1);
}

// A thread is that of its number in every block.
static void live(void) {
    for (;;) {
        kernel->run(kernel_parameters);
        leave(OVER);
    }
}

// Lets a thread run until it waits or is over.
static void resume(unsigned number) {
    struct Thread *thread = &threads[number];
    running = number;
    threadIdx = thread->index;
    if (_setjmp(scheduler) != 0) return;
    if (thread->stack) _longjmp(thread->place, 1);
    ucontext_t start;
    getcontext(&start);
    if (!(thread->stack = malloc(STACK))) abort();
    start.uc_stack.ss_sp = thread->stack;
    start.uc_stack.ss_size = STACK;
    start.uc_link = NULL;
    makecontext(&start, live, 0);
    setcontext(&start);
}

// Who waits may go on: lanes of a warp at first, since those that wait for the block are not active in it.
static int release(void) {
    int warps = 0, blocks = 0;
    void *barrier = NULL;
    for (unsigned i = 0; i < thread_count; i++) {
        warps += threads[i].state == AT_WARP;
        if (threads[i].state != AT_BLOCK) continue;
        running = i;
        if (blocks++ && barrier != threads[i].barrier) barrier = NULL;
        if (blocks == 1) barrier = threads[i].barrier;
    }
    if (!warps && !blocks) return 0;
    if (!warps && !barrier) die("waits at another barrier than the others of its block");
    for (unsigned i = 0; i < thread_count; i++)
        if (threads[i].state == (warps ? AT_WARP : AT_BLOCK)) threads[i].state = READY;
    return 1;
}

static void run_block(void) {
    for (unsigned i = 0; i < thread_count; i++) {
        threads[i].index = (struct Index){i % blockDim.x, i / blockDim.x % blockDim.y, i / (blockDim.x * blockDim.y)};
        threads[i].state = READY;
    }
    int is_last_first = 0;
    do {
        for (unsigned i = 0; i < thread_count; i++) {
            unsigned number = is_last_first ? thread_count - 1 - i : i;
            if (threads[number].state == READY) resume(number);
        }
        is_last_first = !is_last_first;
    } while (release());
}

// --- What kernels call.

__attribute__((noinline)) void emulated_sync_block(void) {
    threads[running].barrier = __builtin_return_address(0);
    leave(AT_BLOCK);
}

void emulated_sync_warp(void) { leave(AT_WARP); }

unsigned emulated_active(void) {
    unsigned mask = 0, first = running / WARP * WARP;
    for (unsigned lane = 0; lane < WARP && first + lane < thread_count; lane++) {
        enum State state = threads[first + lane].state;
        if (state != OVER && state != AT_BLOCK) mask |= 1u << lane;
    }
    return mask;
}

// The value of another lane: of `lane`, or of its own if there is none.
void emulated_exchange(const void *given, void *taken, size_t bytes, int lane) {
    static char values[MOST_THREADS][MOST_EXCHANGED];
    unsigned own = running;
    if (bytes > MOST_EXCHANGED) die("exchanges a value that is too large");
    memcpy(values[own], given, bytes);
    leave(AT_WARP);
    unsigned from = own / WARP * WARP + (unsigned)lane;
    memcpy(taken, values[lane < 0 || lane >= WARP || from >= thread_count ? own : from], bytes);
    leave(AT_WARP);
}

int emulated_lane(void) { return running % WARP; }

// The lanes for which `holds`, of those that ask.
unsigned emulated_vote(int holds) {
    static signed char answers[MOST_THREADS];
    unsigned own = running, mask = 0, first = own / WARP * WARP;
    answers[own] = holds != 0;
    leave(AT_WARP);
    for (unsigned lane = 0; lane < WARP && first + lane < thread_count; lane++) {
        enum State state = threads[first + lane].state;
        if (state != OVER && state != AT_BLOCK && answers[first + lane]) mask |= 1u << lane;
    }
    leave(AT_WARP);
    return mask;
}

// --- Launches, one at a time.

Result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static size_t shared_size;
    pthread_mutex_lock(&turn);
    kernel = function;
    kernel_parameters = parameters;
    gridDim = (struct Index){grid_x, grid_y, grid_z};
    blockDim = (struct Index){block_x, block_y, block_z};
    thread_count = block_x * block_y * block_z;
    trace("launch %s %u,%u,%u %u,%u,%u %u", kernel->name, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes);
    if (thread_count > MOST_THREADS) die("has too many threads");
    if (shared_bytes > shared_size) {
        free(emulated_shared);
        shared_size = (shared_bytes + 1023) / 1024 * 1024;
        emulated_shared = aligned_alloc(1024, shared_size);
    }
    for (blockIdx.z = 0; blockIdx.z < grid_z; blockIdx.z++)
        for (blockIdx.y = 0; blockIdx.y < grid_y; blockIdx.y++)
            for (blockIdx.x = 0; blockIdx.x < grid_x; blockIdx.x++) {
                if (shared_bytes) memset(emulated_shared, 0xff, shared_bytes);
                if (!kernel->is_plain) {
                    run_block();
                    continue;
                }
                for (threadIdx.z = 0; threadIdx.z < block_z; threadIdx.z++)
                    for (threadIdx.y = 0; threadIdx.y < block_y; threadIdx.y++)
                        for (threadIdx.x = 0; threadIdx.x < block_x; threadIdx.x++) kernel->run(parameters);
            }
    pthread_mutex_unlock(&turn);
    return SUCCESS;
}
