// Computes with N threads (the main thread only joins) for S seconds: spinner N S [pin|bound].
// With `pin` each thread first pins itself to the last CPU it may use; with `bound` its S seconds
// begin when somebody else has bound it to fewer CPUs, or after five minutes.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds;
static int pin, bound;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pin_to_last(void) {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    int last = CPU_SETSIZE - 1;
    while (last && !CPU_ISSET(last, &mask)) last--;
    CPU_ZERO(&mask);
    CPU_SET(last, &mask);
    sched_setaffinity(0, sizeof mask, &mask);
}

static int cpus(void) {
    cpu_set_t mask;
    sched_getaffinity(0, sizeof mask, &mask);
    return CPU_COUNT(&mask);
}

static void* compute(void* unused) {
    if (pin) pin_to_last();
    int before = bound ? cpus() : 0;
    for (double limit = now() + 300; cpus() == before && now() < limit;) continue;
    volatile uint64_t x = 1;
    for (double end = now() + seconds; now() < end;) {
        for (int i = 0; i < 100000; i++) x = x * 6364136223846793005u + 1;
    }
    return unused;
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 2;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    pin = argc > 3 && strcmp(argv[3], "pin") == 0;
    bound = argc > 3 && strcmp(argv[3], "bound") == 0;
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < count && i < 64; i++) pthread_join(threads[i], NULL);
    return 0;
}
