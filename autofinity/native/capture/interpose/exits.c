// Ends of the program that run no destructors.
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/process/process.h"

AF_API void _exit(int status) {
    af_finish();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
AF_API void _Exit(int status) { _exit(status); }
