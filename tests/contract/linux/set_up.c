// Touches new memory with two threads for S seconds, some 50 MB a second each, then computes
// without: set_up S T, where T seconds are all of it. The main thread only joins.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static double set_up, in_all;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* compute(void* unused) {
    const size_t size = 1 << 16;
    volatile uint64_t x = 1;
    for (double start = now(); now() < start + in_all;) {
        if (now() < start + set_up) {
            char* area =
                mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (area == MAP_FAILED) return unused;
            for (size_t at = 0; at < size; at += 4096) area[at] = 1;
        }
        for (int i = 0; i < 800000; i++) x = x * 6364136223846793005u + 1;
    }
    return unused;
}

int main(int argc, char** argv) {
    set_up = argc > 1 ? atof(argv[1]) : 1;
    in_all = argc > 2 ? atof(argv[2]) : 3;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
