// A libcuda.so without a GPU: an H200 whose memory is the host's. count.c or emulate.c has what is done with kernels.
//
// CWM_GPU_TRACE=FILE gets a file FILE.PID for each process, with a line for each
//   launch NAME GRID BLOCK SHARED | upload BYTES | download BYTES | copy BYTES | fill BYTES | allocate BYTES | wait
// in the order of the calls. docs/design/gpu-speed.md tells what is made of it.

#define _GNU_SOURCE
#include "driver.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// --- The trace.

void trace(const char *format, ...) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    static FILE *file;
    const char *name = getenv("CWM_GPU_TRACE");
    if (!name) return;
    pthread_mutex_lock(&turn);
    if (!file) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%d", name, (int)getpid());
        file = fopen(path, "w");
    }
    if (file) {
        va_list values;
        va_start(values, format);
        vfprintf(file, format, values);
        va_end(values);
        fputc('\n', file);
        // A stage's process may be killed; launches are many, so that only what follows them is certain to be there.
        if (format[0] != 'l') fflush(file);
    }
    pthread_mutex_unlock(&turn);
}

// --- The device.

static const uint64_t MEMORY = 141ull << 30;

int architecture(void) {
    const char *given = getenv("CWM_GPU_ARCHITECTURE");
    return given ? atoi(given) : 90;
}

Result cuInit(unsigned flags) { return SUCCESS; }

Result cuDriverGetVersion(int *version) {
    *version = 13000;
    return SUCCESS;
}

Result cuDeviceGetCount(int *count) {
    *count = 1;
    return SUCCESS;
}

Result cuDeviceGet(int *device, int ordinal) {
    *device = ordinal;
    return ordinal == 0 ? SUCCESS : ERROR_INVALID_DEVICE;
}

Result cuDeviceGetName(char *name, int length, int device) {
    snprintf(name, length, runs_kernels ? "emulated GPU, sm_%d" : "counting GPU, sm_%d", architecture());
    return SUCCESS;
}

Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = MEMORY;
    return SUCCESS;
}

Result cuDeviceGetPCIBusId(char *id, int length, int device) {
    snprintf(id, length, "0000:01:00.0");
    return SUCCESS;
}

Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    // Numbers of CUdevice_attribute, and of an H200.
    static const int known[][2] = {
        {1, 1024},       // threads of a block
        {2, 1024}, {3, 1024}, {4, 64},
        {5, 2147483647}, // blocks of a grid
        {6, 65535}, {7, 65535},
        {8, 48 << 10},   // shared memory of a block
        {10, 32},        // threads of a warp
        {12, 65536},     // registers of a block
        {16, 132},       // multiprocessors
        {38, 50 << 20},  // bytes of the second cache
        {39, 2048},      // threads of a multiprocessor
        {81, 228 << 10}, // shared memory of a multiprocessor
        {82, 65536},
        {97, 227 << 10}, // shared memory of a block, at most
        {115, 1},        // memory pools
    };
    if (attribute == 75 || attribute == 76) {
        *value = attribute == 75 ? architecture() / 10 : architecture() % 10;
        return SUCCESS;
    }
    *value = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == attribute) *value = known[i][1];
    return SUCCESS;
}

Result cuMemGetInfo_v2(size_t *available, size_t *total) {
    *available = *total = MEMORY;
    return SUCCESS;
}

Result cuGetErrorName(int error, const char **name) {
    *name = "ERROR_OF_A_DRIVER_WITHOUT_A_GPU";
    return SUCCESS;
}

Result cuGetErrorString(int error, const char **text) {
    *text = "the driver of tests/gpu has no more to say";
    return SUCCESS;
}

// --- Contexts, streams and events: everything is over when its call returns.

static __thread void *current;

Result cuDevicePrimaryCtxRetain(void **context, int device) {
    static int only;
    *context = &only;
    return SUCCESS;
}

Result cuDevicePrimaryCtxRelease_v2(int device) { return SUCCESS; }

Result cuCtxSetCurrent(void *context) {
    current = context;
    return SUCCESS;
}

Result cuCtxGetCurrent(void **context) {
    *context = current;
    return SUCCESS;
}

Result cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    *least = *greatest = 0;
    return SUCCESS;
}

Result cuCtxSynchronize(void) {
    trace("wait");
    return SUCCESS;
}

Result cuStreamCreate(void **stream, unsigned flags) {
    *stream = malloc(1);
    return SUCCESS;
}

Result cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) { return cuStreamCreate(stream, flags); }

Result cuStreamDestroy_v2(void *stream) {
    free(stream);
    return SUCCESS;
}

Result cuStreamSynchronize(void *stream) {
    trace("wait");
    return SUCCESS;
}

Result cuStreamWaitEvent(void *stream, void *event, unsigned flags) { return SUCCESS; }

Result cuStreamIsCapturing(void *stream, int *status) {
    *status = 0;
    return SUCCESS;
}

Result cuStreamBeginCapture_v2(void *stream, int mode) { return ERROR_NOT_SUPPORTED; }

Result cuStreamEndCapture(void *stream, void **graph) { return ERROR_NOT_SUPPORTED; }

Result cuLaunchHostFunc(void *stream, void (*function)(void *), void *data) {
    function(data);
    return SUCCESS;
}

Result cuEventCreate(void **event, unsigned flags) {
    *event = calloc(1, sizeof(struct timespec));
    return SUCCESS;
}

Result cuEventDestroy_v2(void *event) {
    free(event);
    return SUCCESS;
}

Result cuEventRecord(void *event, void *stream) {
    clock_gettime(CLOCK_MONOTONIC, event);
    return SUCCESS;
}

Result cuEventQuery(void *event) { return SUCCESS; }

Result cuEventSynchronize(void *event) {
    trace("wait");
    return SUCCESS;
}

Result cuEventElapsedTime_v2(float *milliseconds, struct timespec *start, struct timespec *end) {
    double passed = (end->tv_sec - start->tv_sec) * 1e3 + (end->tv_nsec - start->tv_nsec) * 1e-6;
    // No kernel takes no time.
    *milliseconds = passed + 1e-3;
    return SUCCESS;
}

Result cuEventElapsedTime(float *milliseconds, struct timespec *start, struct timespec *end) {
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

// --- Memory. Where kernels are not run it is never touched, so that a large model fits into a small host.

// The bytes before an allocation, of which the first eight have its size.
static const size_t HEAD = 4096;

static Result allocate(DevicePointer *pointer, size_t bytes) {
    size_t whole = bytes + HEAD;
    char *start = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) return ERROR_OUT_OF_MEMORY;
    *(size_t *)start = whole;
    // What is read before it was written is no number, and shows.
    if (runs_kernels) memset(start + HEAD, 0xff, bytes);
    *pointer = (DevicePointer)(start + HEAD);
    trace("allocate %zu", bytes);
    return SUCCESS;
}

static Result release(DevicePointer pointer) {
    char *start = (char *)pointer - HEAD;
    munmap(start, *(size_t *)start);
    return SUCCESS;
}

Result cuMemAlloc_v2(DevicePointer *pointer, size_t bytes) { return allocate(pointer, bytes); }

Result cuMemAllocAsync(DevicePointer *pointer, size_t bytes, void *stream) { return allocate(pointer, bytes); }

Result cuMemFree_v2(DevicePointer pointer) { return release(pointer); }

Result cuMemFreeAsync(DevicePointer pointer, void *stream) { return release(pointer); }

Result cuMemAllocHost_v2(void **pointer, size_t bytes) {
    *pointer = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *pointer ? SUCCESS : ERROR_OUT_OF_MEMORY;
}

Result cuMemHostAlloc(void **pointer, size_t bytes, unsigned flags) { return cuMemAllocHost_v2(pointer, bytes); }

Result cuMemFreeHost(void *pointer) {
    free(pointer);
    return SUCCESS;
}

Result cuMemsetD8Async(DevicePointer pointer, unsigned char value, size_t bytes, void *stream) {
    trace("fill %zu", bytes);
    memset((void *)pointer, value, bytes);
    return SUCCESS;
}

static Result upload(DevicePointer to, const void *from, size_t bytes) {
    trace("upload %zu", bytes);
    memcpy((void *)to, from, bytes);
    return SUCCESS;
}

// The largest result of a step that the host looks at: losses of its games, the norm, whether all is finite.
static const size_t MOST_OF_A_RESULT = 4096;

static Result download(void *to, DevicePointer from, size_t bytes) {
    static int is_tested;
    trace("download %zu", bytes);
    if (runs_kernels || bytes > MOST_OF_A_RESULT) {
        memcpy(to, (void *)from, bytes);
    } else if (!is_tested && bytes == sizeof(float)) {
        // cwm tests a device with a sum, once.
        is_tested = 1;
        *(float *)to = 24;
    } else {
        // Losses of 0, and magnitudes of finite numbers: else a step undoes its update, and repeats the passes of the next.
        memset(to, 0, bytes);
    }
    return SUCCESS;
}

static Result copy(DevicePointer to, DevicePointer from, size_t bytes) {
    trace("copy %zu", bytes);
    if (runs_kernels) memmove((void *)to, (void *)from, bytes);
    return SUCCESS;
}

Result cuMemcpyHtoDAsync_v2(DevicePointer to, const void *from, size_t bytes, void *stream) {
    return upload(to, from, bytes);
}

Result cuMemcpyHtoD_v2(DevicePointer to, const void *from, size_t bytes) { return upload(to, from, bytes); }

Result cuMemcpyDtoHAsync_v2(void *to, DevicePointer from, size_t bytes, void *stream) {
    return download(to, from, bytes);
}

Result cuMemcpyDtoH_v2(void *to, DevicePointer from, size_t bytes) { return download(to, from, bytes); }

Result cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, void *stream) {
    return copy(to, from, bytes);
}

Result cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, size_t bytes) { return copy(to, from, bytes); }

// CUDA_MEMCPY2D, of which arrays are not used.
struct Side {
    size_t x, y;
    int kind;
    void *host;
    DevicePointer device;
    void *array;
    size_t pitch;
};

struct Rows {
    struct Side from, to;
    size_t width, height;
};

Result cuMemcpy2DAsync_v2(const struct Rows *rows, void *stream) {
    enum { HOST = 1 };
    const struct Side *from = &rows->from, *to = &rows->to;
    const char *source = (from->kind == HOST ? (char *)from->host : (char *)from->device) + from->y * from->pitch + from->x;
    char *target = (to->kind == HOST ? (char *)to->host : (char *)to->device) + to->y * to->pitch + to->x;
    trace("%s %zu", from->kind == HOST ? "upload" : to->kind == HOST ? "download" : "copy", rows->width * rows->height);
    for (size_t y = 0; y < rows->height; y++)
        memcpy(target + y * (to->pitch ? to->pitch : rows->width), source + y * (from->pitch ? from->pitch : rows->width),
               rows->width);
    return SUCCESS;
}

// --- What kernels ask for besides.

Result cuModuleUnload(void *module) { return SUCCESS; }

Result cuFuncSetAttribute(void *function, int attribute, int value) { return SUCCESS; }

Result cuTensorMapEncodeTiled(void *map, ...) { return SUCCESS; }

Result cuTensorMapEncodeIm2col(void *map, ...) { return SUCCESS; }
