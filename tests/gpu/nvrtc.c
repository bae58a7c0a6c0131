// A libnvrtc.so that has emulate.py compile kernels for the processor. What stands for PTX is the path of a library.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, ERROR_COMPILATION = 6, MOST_LOG = 1 << 16 };

struct Program {
    char *source, *image, *log;
};

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return SUCCESS;
}

const char *nvrtcGetErrorString(int error) { return "emulate.py failed; the log has its output"; }

int nvrtcCreateProgram(struct Program **program, const char *source, const char *name, int headers,
                       const char *const *contents, const char *const *names) {
    *program = calloc(1, sizeof **program);
    (*program)->source = strdup(source);
    return SUCCESS;
}

int nvrtcDestroyProgram(struct Program **program) {
    free((*program)->source);
    free((*program)->image);
    free((*program)->log);
    free(*program);
    *program = NULL;
    return SUCCESS;
}

// Runs `python3 emulate.py FILE`, which prints `EMULATED` and a path, or why not.
int nvrtcCompileProgram(struct Program *program, int count, const char *const *options) {
    char file[] = "/tmp/cwm-kernel-XXXXXX", command[4096];
    const char *script = getenv("CWM_GPU_EMULATE");
    int descriptor = mkstemp(file);
    size_t length = strlen(program->source);
    if (!script || descriptor < 0 || write(descriptor, program->source, length) != (ssize_t)length) return ERROR_COMPILATION;
    close(descriptor);
    snprintf(command, sizeof command, "python3 '%s' '%s' 2>&1", script, file);
    FILE *output = popen(command, "r");
    if (!output) return ERROR_COMPILATION;
    program->log = calloc(1, MOST_LOG);
    size_t read = fread(program->log, 1, MOST_LOG - 1, output);
    while (fgetc(output) != EOF) continue;
    int status = pclose(output);
    unlink(file);
    if (status != 0) {
        fprintf(stderr, "%s\n", program->log);
        return ERROR_COMPILATION;
    }
    if (read && program->log[read - 1] == '\n') program->log[read - 1] = 0;
    program->image = program->log;
    program->log = NULL;
    return SUCCESS;
}

int nvrtcGetPTXSize(struct Program *program, size_t *bytes) {
    *bytes = strlen(program->image) + 1;
    return SUCCESS;
}

int nvrtcGetPTX(struct Program *program, char *to) {
    strcpy(to, program->image);
    return SUCCESS;
}

int nvrtcGetProgramLogSize(struct Program *program, size_t *bytes) {
    *bytes = (program->log ? strlen(program->log) : 0) + 1;
    return SUCCESS;
}

int nvrtcGetProgramLog(struct Program *program, char *to) {
    strcpy(to, program->log ? program->log : "");
    return SUCCESS;
}
