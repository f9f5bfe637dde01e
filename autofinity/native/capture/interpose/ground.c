// Begins main at a fixed stack address, whatever the depth of the stack, which depends on the
// environment and the arguments (process/addresses.c).
#include <alloca.h>

#include "capture/interpose/interpose.h"
#include "capture/process/addresses.h"

typedef int main_function(int count, char** arguments, char** environment);
typedef int libc_start(main_function* begin, int count, char** arguments, void (*init)(void),
                       void (*fini)(void), void (*loader_fini)(void), void* stack_end);

static main_function* program_main;
static uintptr_t ground;  // or 0: the stack's own depth

static int main_on_ground(int count, char** arguments, char** environment) {
    const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    char* const down = alloca(here > ground && ground != 0 ? here - ground : 0);
    const int code = program_main(count, arguments, environment);
    __asm__ volatile("" ::"r"(down) : "memory");  // memory from alloca is in use until here
    return code;
}

AF_API libc_start __libc_start_main;
int __libc_start_main(main_function* begin, int count, char** arguments, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
    program_main = begin;
    ground = af_ground();
    return AF_REAL(__libc_start_main)(main_on_ground, count, arguments, init, fini, loader_fini,
                                      stack_end);
}
