// Threads t and t + N/2 of N share pages of their own for S seconds: partners N S NODE. Prints
// where the pages are, and starts its threads at a line from stdin. The pages are on NODE, and the
// kernel may take them away now and then but not move them to any other node (MPOL_F_NUMA_BALANCING
// with a set of one), so that who moves them is no question. Each thread works an eighth of the
// time: that counts as computing, and leaves an emulated machine to whoever watches.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PAGES = 16, PAGE_BYTES = 4096, BURST_MS = 25, PAUSE_MS = 175 };
// Between two looks at the clock: an emulated clock may be a device that one CPU reads at a time.
enum { STEPS = 20000 };
enum { MPOL_BIND = 2, MPOL_F_NUMA_BALANCING = 1 << 13 };  // linux/mempolicy.h

static double seconds;
static int count;
static volatile char* shared;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* work(void* number) {
    intptr_t thread = (intptr_t)number;
    volatile char* pages = shared + thread % (count / 2) * PAGES * PAGE_BYTES;
    for (double end = now() + seconds; now() < end; usleep(PAUSE_MS * 1000)) {
        for (double pause = now() + BURST_MS * 1e-3; now() < pause;) {
            for (int i = 0; i < PAGES; i++) pages[i * PAGE_BYTES + 64 * (thread >= count / 2)]++;
            for (volatile int i = 0; i < STEPS; i++) continue;
        }
    }
    return NULL;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    count = atoi(argv[1]);
    seconds = atof(argv[2]);
    unsigned long nodes = 1UL << atoi(argv[3]);
    if (count < 2 || count > 64 || count % 2) return 2;
    int mode = MPOL_BIND | MPOL_F_NUMA_BALANCING;
    if (syscall(SYS_set_mempolicy, mode, &nodes, 8 * sizeof nodes)) return 1;
    size_t bytes = (size_t)count / 2 * PAGES * PAGE_BYTES;
    shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 1;
    for (size_t at = 0; at < bytes; at += PAGE_BYTES) shared[at] = 1;
    printf("%p\n", (void*)shared);
    fflush(stdout);
    getchar();
    pthread_t threads[64];
    for (intptr_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, (void*)i);
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    return 0;
}
