/* Starting and joining POSIX threads.
 *
 * run_threads(n, body, shared) runs body(0 .. n-1, shared) on n threads: the caller is thread 0 and
 * n - 1 more are created, so a program started with n threads has exactly n of them.
 */
#ifndef TRAINING_THREADS_H
#define TRAINING_THREADS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autofinity_roi.h"

enum { MAX_THREADS = 384 };

typedef void (*thread_body)(int thread, void* shared);

struct thread_start {
    thread_body body;
    int thread;
    void* shared;
};

static inline void* thread_entry(void* argument) {
    const struct thread_start* start = (const struct thread_start*)argument;
    start->body(start->thread, start->shared);
    return NULL;
}

static inline void run_threads(int threads, thread_body body, void* shared) {
    pthread_t ids[MAX_THREADS];
    struct thread_start starts[MAX_THREADS];
    for (int t = 1; t < threads; ++t) {
        starts[t].body = body;
        starts[t].thread = t;
        starts[t].shared = shared;
        const int error = pthread_create(&ids[t], NULL, thread_entry, &starts[t]);
        if (error != 0) {
            fprintf(stderr, "cannot create thread %d of %d: %s\n", t, threads, strerror(error));
            exit(2);
        }
    }
    body(0, shared);
    for (int t = 1; t < threads; ++t) pthread_join(ids[t], NULL);
}

/* All threads call this between their initialisation and their work: the region of interest begins
 * while they wait. So the thread that first writes data is the one that works on them; threads of
 * their own for initialisation would sit elsewhere. */
static inline void begin_roi_together(int thread, pthread_barrier_t* barrier) {
    pthread_barrier_wait(barrier);
    if (thread == 0) roi_begin();
    pthread_barrier_wait(barrier);
}

/* First index of part `part` when `count` things are split into `parts` nearly equal runs. */
static inline long share_begin(long count, int part, int parts) {
    return (long)((__int128)count * part / parts);
}

#endif
