// N threads, K of which run at a time, in turn, for S seconds: turns N K S.
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64 };
static const double SLICE_S = 0.002;

static int threads, at_a_time;
static double end;
static sem_t turn[MOST];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// CPU time, so that who is kept from running does not lose the rest of its slice.
static double used(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void* take_turns(void* number) {
    const int me = (int)(intptr_t)number;
    volatile uint64_t x = 1;
    while (now() < end) {
        sem_wait(&turn[me]);
        for (double enough = used() + SLICE_S; used() < enough;)
            for (int i = 0; i < 1000; i++) x = x * 6364136223846793005u + 1;
        sem_post(&turn[(me + at_a_time) % threads]);
    }
    return NULL;
}

int main(int argc, char** argv) {
    threads = argc > 1 ? atoi(argv[1]) : 6;
    at_a_time = argc > 2 ? atoi(argv[2]) : 2;
    end = now() + (argc > 3 ? atof(argv[3]) : 1);
    if (threads < 1 || threads > MOST || at_a_time < 1 || at_a_time > threads) return 2;
    pthread_t made[MOST];
    for (int i = 0; i < threads; i++) sem_init(&turn[i], 0, i < at_a_time);
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], NULL, take_turns, (void*)(intptr_t)i);
    for (int i = 0; i < threads; i++) pthread_join(made[i], NULL);
    return 0;
}
