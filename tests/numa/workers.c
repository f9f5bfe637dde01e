// N threads compute a sixth of the time for S seconds: workers N S. A sixth counts as computing,
// and leaves an emulated machine to whoever watches.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BURST_MS = 40, PAUSE_MS = 200 };
// Between two looks at the clock: an emulated clock may be a device that one CPU reads at a time.
enum { STEPS = 100000 };

static double seconds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* compute(void* unused) {
    for (double end = now() + seconds; now() < end; usleep(PAUSE_MS * 1000)) {
        for (double pause = now() + BURST_MS * 1e-3; now() < pause;) {
            for (volatile int i = 0; i < STEPS; i++) continue;
        }
    }
    return unused;
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    if (count < 1 || count > 64) return 2;
    pthread_t threads[64];
    for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
