// Reports the region of interest of a program that runs on this machine to its profiler.
//
// The program's weak marks (training/include/autofinity_roi.h) find these functions. Each writes
// its kind and the time into the pipe named in AUTOFINITY_MARKS; the beginning then waits for a
// byte from the pipe in AUTOFINITY_GO, so that threads can be bound and counted before the work
// starts. Without a profiler the program runs on at once.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    int64_t kind;   // 1: the region begins, 2: it ends
    int64_t at_ns;  // CLOCK_MONOTONIC
} Mark;

static int descriptor(const char* variable) {
    const char* text = getenv(variable);
    return text && *text ? atoi(text) : -1;
}

static void tell(int64_t kind) {
    struct timespec now;
    int fd = descriptor("AUTOFINITY_MARKS");
    if (fd < 0) return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    Mark mark = {kind, now.tv_sec * INT64_C(1000000000) + now.tv_nsec};
    while (write(fd, &mark, sizeof mark) < 0 && errno == EINTR) continue;
}

__attribute__((visibility("default"))) void autofinity_roi_begin(void) {
    tell(1);
    char go;
    int fd = descriptor("AUTOFINITY_GO");
    if (fd < 0) return;
    while (read(fd, &go, 1) < 0 && errno == EINTR) continue;
}

__attribute__((visibility("default"))) void autofinity_roi_end(void) { tell(2); }

// PARSEC's hooks, and calls of those that a program contains (linked with --wrap).
#define HOOK(name, parameters, does) \
    __attribute__((visibility("default"))) void name parameters { does; }
HOOK(__parsec_roi_begin, (void), autofinity_roi_begin())
HOOK(__parsec_roi_end, (void), autofinity_roi_end())
HOOK(__wrap___parsec_roi_begin, (void), autofinity_roi_begin())
HOOK(__wrap___parsec_roi_end, (void), autofinity_roi_end())
HOOK(__parsec_bench_begin, (int benchmark), (void)benchmark)
HOOK(__parsec_bench_end, (void), (void)0)
