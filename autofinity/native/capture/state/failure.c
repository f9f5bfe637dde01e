#include "capture/state/failure.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/common.h"

void af_fail(const char* what, const char* path, int error) {
    atomic_store(&af_shared->recording, 0);
    if (atomic_exchange(&af_shared->failed, 1)) return;
    char text[4400];
    const int n = snprintf(text, sizeof text, "autofinity capture: %s %s: %s\n", what, path,
                           strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
    if (n > 0) syscall(SYS_write, 2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}
