/* Bounded queue between two stages of the pipeline: mutex and two condition variables.
 * It is closed when every producer has said that it is done; popping from a closed, empty queue
 * gives NULL. */
#ifndef DEDUP_QUEUE_H
#define DEDUP_QUEUE_H

#include <pthread.h>
#include <stddef.h>

enum { QUEUE_SLOTS = 64 };

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty, not_full;
    int producers;
    int head, count;
    void* slot[QUEUE_SLOTS];
};

static inline void queue_init(struct queue* q, int producers) {
    pthread_mutex_init(&q->mutex, NULL);
    pthread_cond_init(&q->not_empty, NULL);
    pthread_cond_init(&q->not_full, NULL);
    q->producers = producers;
    q->head = q->count = 0;
}

static inline void queue_push(struct queue* q, void* item) {
    pthread_mutex_lock(&q->mutex);
    while (q->count == QUEUE_SLOTS) pthread_cond_wait(&q->not_full, &q->mutex);
    q->slot[(q->head + q->count++) % QUEUE_SLOTS] = item;
    pthread_cond_signal(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

static inline void* queue_pop(struct queue* q) {
    void* item = NULL;
    pthread_mutex_lock(&q->mutex);
    while (q->count == 0 && q->producers > 0) pthread_cond_wait(&q->not_empty, &q->mutex);
    if (q->count > 0) {
        item = q->slot[q->head];
        q->head = (q->head + 1) % QUEUE_SLOTS;
        --q->count;
        pthread_cond_signal(&q->not_full);
    }
    pthread_mutex_unlock(&q->mutex);
    return item;
}

static inline void queue_producer_done(struct queue* q) {
    pthread_mutex_lock(&q->mutex);
    if (--q->producers == 0) pthread_cond_broadcast(&q->not_empty);
    pthread_mutex_unlock(&q->mutex);
}

#endif
