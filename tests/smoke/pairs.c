// Threads 0 and 1, 2 and 3, … share pages of their own, in turn, for S seconds: pairs THREADS S.
// Prints where they are. Each looks in now and then only, while the main thread burns CPU time: the
// kernel looks for pages to take away on the time of whoever computes, a second of it at first.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 64, PAGE_BYTES = 4096, PAUSE_US = 2000 };

static double seconds;
static volatile char* shared;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* look_in(void* number) {
    intptr_t thread = (intptr_t)number;
    volatile char* pages = shared + thread / 2 * PAGES * PAGE_BYTES;
    for (double end = now() + seconds; now() < end; usleep(PAUSE_US)) {
        for (int i = 0; i < PAGES; i++) pages[i * PAGE_BYTES + 64 * (thread % 2)]++;
    }
    return NULL;
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 4;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    size_t bytes = (size_t)count / 2 * PAGES * PAGE_BYTES;
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    printf("%p\n", (void*)shared);
    fflush(stdout);
    madvise((void*)shared, bytes, MADV_NOHUGEPAGE);
    pthread_t threads[64];
    for (intptr_t i = 0; i < count && i < 64; i++) {
        pthread_create(&threads[i], NULL, look_in, (void*)i);
    }
    for (double end = now() + seconds; now() < end;) continue;
    for (int i = 0; i < count && i < 64; i++) pthread_join(threads[i], NULL);
    return 0;
}
