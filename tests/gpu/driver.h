// What the two kinds of driver have in common (driver.c): one counts launches (count.c), one runs them (emulate.c).

#pragma once

#include <stddef.h>
#include <stdint.h>

typedef int Result;
typedef uint64_t DevicePointer;

enum {
    SUCCESS = 0,
    ERROR_OUT_OF_MEMORY = 2,
    ERROR_INVALID_DEVICE = 101,
    ERROR_INVALID_IMAGE = 200,
    ERROR_NOT_SUPPORTED = 801,
};

// The compute capability: CWM_GPU_ARCHITECTURE (80, 90, …), by default that of an H200.
int architecture(void);

// Adds a line to the trace, if CWM_GPU_TRACE names one.
void trace(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Whether kernels are run, so that memory holds what they computed.
extern const int runs_kernels;
