// Conditions, semaphores and barriers of POSIX threads.
#include <errno.h>
#include <semaphore.h>

#include "interpose.h"
#include "objects.h"

// ------------------------------------------------------------------------------- conditions
//
// Which signal wakes which waiter is not told. A waiter that wakes takes the oldest signal since it
// began to wait that no other has taken (a broadcast is for all), so every edge points forward in
// the time of the capture and no cycle can arise.

REAL(pthread_cond_wait)
REAL(pthread_cond_timedwait)
REAL(pthread_cond_clockwait)
REAL(pthread_cond_signal)
REAL(pthread_cond_broadcast)

static void signalling(pthread_cond_t* c, bool broadcast) {
    af_thread* t = af_here();
    if (t == NULL) return;
    af_ring* ring = AF_OBJECT(af_ring, c, AF_IS_COND);
    const uint64_t token = af_token();
    af_alone(t, c, 1, 1);
    af_event_add(t, AF_POST, token, 0);
    af_object_lock(&ring->object);
    const uint64_t at = ring->tail++ % AF_RING;
    ring->items[at].token = token;
    ring->items[at].broadcast = broadcast;
    ring->items[at].consumed = false;
    af_object_unlock(&ring->object);
}

static uint64_t signal_since(af_ring* ring, uint64_t since) {
    uint64_t token = 0;
    af_object_lock(&ring->object);
    if (ring->tail > AF_RING && since < ring->tail - AF_RING) since = ring->tail - AF_RING;
    for (uint64_t i = since; i < ring->tail && token == 0; i++) {
        if (ring->items[i % AF_RING].consumed) continue;
        token = ring->items[i % AF_RING].token;
        ring->items[i % AF_RING].consumed = !ring->items[i % AF_RING].broadcast;
    }
    af_object_unlock(&ring->object);
    return token;
}

#define WAITING(call)                                             \
    af_thread* const t = af_here();                               \
    if (t == NULL) return call;                                   \
    af_ring* const ring = AF_OBJECT(af_ring, c, AF_IS_COND);      \
    af_object_lock(&ring->object);                                \
    const uint64_t since = ring->tail;                            \
    af_object_unlock(&ring->object);                              \
    af_alone(t, c, 1, 1);                                         \
    af_releasing(t, (uint64_t)(uintptr_t)m, true);                \
    af_block(t);                                                  \
    const int error = AF_QUIETLY(call);                           \
    af_unblock(t);                                                \
    if (error == 0) af_await(t, signal_since(ring, since), NULL); \
    if (error == 0 || error == ETIMEDOUT || error == EOWNERDEAD)  \
        af_acquired(t, (uint64_t)(uintptr_t)m, true);             \
    return error

AF_API int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
    WAITING(real_pthread_cond_wait()(c, m));
}
AF_API int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m,
                                  const struct timespec* until) {
    WAITING(real_pthread_cond_timedwait()(c, m, until));
}
AF_API int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                  const struct timespec* until) {
    WAITING(real_pthread_cond_clockwait()(c, m, clock, until));
}
AF_API int pthread_cond_signal(pthread_cond_t* c) {
    signalling(c, false);
    return AF_QUIETLY(real_pthread_cond_signal()(c));
}
AF_API int pthread_cond_broadcast(pthread_cond_t* c) {
    signalling(c, true);
    return AF_QUIETLY(real_pthread_cond_broadcast()(c));
}

// ------------------------------------------------------------------------------- semaphores

REAL(sem_init)
REAL(sem_post)
REAL(sem_wait)
REAL(sem_trywait)
REAL(sem_timedwait)

AF_API int sem_init(sem_t* s, int shared, unsigned value) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_ring* ring = AF_OBJECT(af_ring, s, AF_IS_SEMAPHORE);
        af_object_lock(&ring->object);
        ring->head = ring->tail = ring->fallen = 0;
        ring->credit = value;
        af_object_unlock(&ring->object);
    }
    return AF_QUIETLY(real_sem_init()(s, shared, value));
}
AF_API int sem_post(sem_t* s) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_ring* ring = AF_OBJECT(af_ring, s, AF_IS_SEMAPHORE);
        const uint64_t token = af_token();
        af_alone(t, s, 1, 1);
        af_event_add(t, AF_POST, token, 0);
        af_object_lock(&ring->object);
        if (ring->tail - ring->head == AF_RING) {
            ring->fallen = ring->items[ring->head++ % AF_RING].token;
            ring->credit++;
        }
        ring->items[ring->tail++ % AF_RING].token = token;
        af_object_unlock(&ring->object);
    }
    return AF_QUIETLY(real_sem_post()(s));
}

static void sem_taken(af_thread* t, sem_t* s) {
    af_ring* ring = AF_OBJECT(af_ring, s, AF_IS_SEMAPHORE);
    uint64_t token = 0;
    af_object_lock(&ring->object);
    if (ring->credit > 0) {
        ring->credit--;
        token = ring->fallen;
    } else if (ring->head < ring->tail) {
        token = ring->items[ring->head++ % AF_RING].token;
    }
    af_object_unlock(&ring->object);
    af_await(t, token, NULL);
    af_alone(t, s, 1, 1);
}

#define SEM_TAKING(wait)                            \
    af_thread* const t = af_here();                 \
    if (t == NULL) return wait;                     \
    int result = AF_QUIETLY(real_sem_trywait()(s)); \
    if (result != 0 && errno == EAGAIN) {           \
        af_block(t);                                \
        result = AF_QUIETLY(wait);                  \
        const int kept = errno;                     \
        af_unblock(t);                              \
        errno = kept;                               \
    }                                               \
    if (result == 0) sem_taken(t, s);               \
    return result

AF_API int sem_wait(sem_t* s) { SEM_TAKING(real_sem_wait()(s)); }
AF_API int sem_timedwait(sem_t* s, const struct timespec* until) {
    SEM_TAKING(real_sem_timedwait()(s, until));
}
AF_API int sem_trywait(sem_t* s) { SEM_TAKING((errno = EAGAIN, -1)); }

// --------------------------------------------------------------------------------- barriers

REAL(pthread_barrier_init)
REAL(pthread_barrier_wait)

AF_API int pthread_barrier_init(pthread_barrier_t* b, const pthread_barrierattr_t* attributes,
                                unsigned count) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_barrier_object* barrier = AF_OBJECT(af_barrier_object, b, AF_IS_BARRIER);
        barrier->object.id = af_ids(1);
        barrier->count = count;
        atomic_store(&barrier->arrivals, 0);
    }
    return AF_QUIETLY(real_pthread_barrier_init()(b, attributes, count));
}
AF_API int pthread_barrier_wait(pthread_barrier_t* b) {
    af_thread* t = af_here();
    if (t == NULL) return real_pthread_barrier_wait()(b);
    af_barrier_object* barrier = AF_OBJECT(af_barrier_object, b, AF_IS_BARRIER);
    af_alone(t, b, 1, 1);
    if (barrier->count > 1) af_event_add(t, AF_BARRIER, barrier->object.id, barrier->count);
    const uint64_t count = barrier->count > 0 ? barrier->count : 1;
    const uint64_t mine = atomic_fetch_add(&barrier->arrivals, 1);
    af_block_at(t, &barrier->arrivals, (mine / count + 1) * count);
    const int result = AF_QUIETLY(real_pthread_barrier_wait()(b));
    af_unblock(t);
    return result;
}
