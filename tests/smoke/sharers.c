// N threads compute for S seconds, and thread t shares P pages (16) with thread t + N/2: sharers N
// S P. The main thread takes the pages away every few milliseconds, in the place of the kernel's
// NUMA hinting, so that they fault again; nothing that is in them is lost.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096, PAUSE_US = 5000 };

static double seconds;
static int count;
static size_t pages;  // of a pair
static volatile char* shared;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* look_in(void* number) {
    intptr_t thread = (intptr_t)number;
    volatile char* ours = shared + (size_t)thread % (size_t)(count / 2) * pages * PAGE_BYTES;
    for (double end = now() + seconds; now() < end;) {
        for (size_t i = 0; i < pages; i++) ours[i * PAGE_BYTES + 64 * (thread >= count / 2)]++;
        for (volatile int i = 0; i < 20000; i++) continue;
    }
    return NULL;
}

int main(int argc, char** argv) {
    count = argc > 1 ? atoi(argv[1]) : 4;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    pages = argc > 3 ? strtoul(argv[3], NULL, 10) : 16;
    if (count < 2 || count > 64 || !pages) return 2;
    size_t bytes = (size_t)count / 2 * pages * PAGE_BYTES;
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    pthread_t threads[64];
    for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, look_in, (void*)i);
    for (double end = now() + seconds; now() < end; usleep(PAUSE_US)) {
        madvise((void*)shared, bytes, MADV_DONTNEED);
    }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
