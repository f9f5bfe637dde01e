// N threads compute a sixth of the time for S seconds: workers N S [MIB]. A sixth counts as
// computing, and leaves an emulated machine to whoever watches. All compute at once, as a team that
// meets at barriers, so that each wants a core. Each has so many MiB of its own, which it touches
// first on a CPU of another part of the machine.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BURST_MS = 40, PAUSE_MS = 200 };
// Between two looks at the clock: an emulated clock may be a device that one CPU reads at a time.
enum { STEPS = 100000 };

static double seconds;
static size_t bytes_each;
static int count;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The thread stays where it touched them until somebody moves it.
static void touch_far_from_others(long number) {
    if (bytes_each == 0) return;
    cpu_set_t before, one;
    sched_getaffinity(0, sizeof before, &before);
    CPU_ZERO(&one);
    CPU_SET(number * sysconf(_SC_NPROCESSORS_ONLN) / count, &one);
    sched_setaffinity(0, sizeof one, &one);
    void* own = NULL;
    if (posix_memalign(&own, 4096, bytes_each) == 0)
        for (size_t at = 0; at < bytes_each; at += 4096) ((volatile char*)own)[at] = 1;
    sched_setaffinity(0, sizeof before, &before);
}

static void sleep_until_all_begin(void) {
    const double period = (BURST_MS + PAUSE_MS) * 1e-3;
    double next = ((double)(long)(now() / period) + 1) * period;
    struct timespec t = {(time_t)next, (long)((next - (double)(time_t)next) * 1e9)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void* compute(void* number) {
    touch_far_from_others((long)number);
    for (double end = now() + seconds; now() < end; sleep_until_all_begin()) {
        for (double pause = now() + BURST_MS * 1e-3; now() < pause;) {
            for (volatile int i = 0; i < STEPS; i++) continue;
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    count = argc > 1 ? atoi(argv[1]) : 4;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    bytes_each = argc > 3 ? (size_t)atoi(argv[3]) << 20 : 0;
    if (count < 1 || count > 64) return 2;
    pthread_t threads[64];
    for (long i = 0; i < count; i++) pthread_create(&threads[i], NULL, compute, (void*)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
