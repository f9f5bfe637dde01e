// N threads compute for S seconds: phases N S. Each SIGUSR1 begins another phase: computing alone,
// or computing on pages of its own that each thread gives away and touches again, so that they
// fault.
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGES = 64, PAGE_BYTES = 4096 };

static double seconds;
static atomic_int phase;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void next_phase(int signal) {
    (void)signal;
    phase++;
}

static void* compute(void* unused) {
    size_t bytes = (size_t)PAGES * PAGE_BYTES;
    volatile char* own =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) return unused;
    madvise((void*)own, bytes, MADV_NOHUGEPAGE);
    for (double end = now() + seconds; now() < end;) {
        for (volatile int i = 0; i < 10000; i++) continue;
        if (phase % 2 == 0) continue;
        for (int i = 0; i < PAGES; i++) own[i * PAGE_BYTES]++;
        madvise((void*)own, bytes, MADV_DONTNEED);
    }
    return unused;
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 2;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    signal(SIGUSR1, next_phase);
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < count && i < 64; i++) pthread_join(threads[i], NULL);
    return 0;
}
