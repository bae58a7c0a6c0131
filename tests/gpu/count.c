// Kernels are loaded, traced and not run. CWM_GPU_PTX=DIR gets the PTX of each.

#define _GNU_SOURCE
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const int runs_kernels = 0;

Result cuModuleLoadData(void **module, const void *image) {
    static int count;
    const char *folder = getenv("CWM_GPU_PTX");
    if (folder) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d-%05d.ptx", folder, (int)getpid(), __sync_fetch_and_add(&count, 1));
        FILE *file = fopen(path, "w");
        if (!file) return ERROR_INVALID_IMAGE;
        fputs(image, file);
        fclose(file);
    }
    *module = module;
    return SUCCESS;
}

Result cuModuleGetFunction(void **function, void *module, const char *name) {
    *function = strdup(name);
    return *function ? SUCCESS : ERROR_OUT_OF_MEMORY;
}

Result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                      unsigned block_z, unsigned shared_bytes, void *stream, void **parameters, void **extra) {
    trace("launch %s %u,%u,%u %u,%u,%u %u", (char *)function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
          shared_bytes);
    return SUCCESS;
}
