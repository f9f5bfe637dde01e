#include "capture/state/failure.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/state/common.h"

void af_fail(const char* what, const char* path, int error) {
    atomic_store(&af_shared->recording, 0);
    if (atomic_exchange(&af_shared->failed, 1)) return;
    const char* const reason = strerrordesc_np(error);
    // Parts, not a text: the stack may be a small one.
    const char* const parts[] = {"autofinity capture: ",
                                 what,
                                 " ",
                                 path,
                                 ": ",
                                 reason != NULL ? reason : "unknown error",
                                 "\n"};
    enum { PARTS = sizeof parts / sizeof *parts };
    struct iovec line[PARTS];
    for (int i = 0; i < PARTS; i++) {
        size_t n = 0;
        while (parts[i][n] != 0) n++;
        line[i] = (struct iovec){(void*)parts[i], n};
    }
    syscall(SYS_writev, 2, line, PARTS);
}
