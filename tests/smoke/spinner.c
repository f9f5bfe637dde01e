// Computes with N threads (the main thread only joins) for S seconds: spinner N S.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static double seconds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* compute(void* unused) {
    volatile uint64_t x = 1;
    for (double end = now() + seconds; now() < end;) {
        for (int i = 0; i < 100000; i++) x = x * 6364136223846793005u + 1;
    }
    return unused;
}

int main(int argc, char** argv) {
    int count = argc > 1 ? atoi(argv[1]) : 2;
    seconds = argc > 2 ? atof(argv[2]) : 1;
    pthread_t threads[64];
    for (int i = 0; i < count && i < 64; i++) pthread_create(&threads[i], NULL, compute, NULL);
    for (int i = 0; i < count && i < 64; i++) pthread_join(threads[i], NULL);
    return 0;
}
