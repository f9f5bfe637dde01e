// Semaphores of POSIX threads.
#include <semaphore.h>

#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/record/accesses.h"
#include "capture/state/common.h"

enum { KEPT = 64 };

// Tokens of posts not yet consumed, oldest first, in a ring.
typedef struct {
    af_object object;
    uint64_t head, tail;
    int64_t credit;   // units that were there from the start, or fell off the ring
    uint64_t fallen;  // token of the last that fell off
    uint64_t tokens[KEPT];
} units;

AF_API int sem_init(sem_t* s, int shared, unsigned value) {
    af_thread* t = af_here();
    if (t != NULL) {
        units* ring = AF_OBJECT(units, s, AF_IS_SEMAPHORE);
        af_object_lock(&ring->object);
        ring->head = ring->tail = ring->fallen = 0;
        ring->credit = value;
        af_object_unlock(&ring->object);
    }
    return AF_QUIETLY(AF_REAL(sem_init)(s, shared, value));
}
AF_API int sem_post(sem_t* s) {
    af_thread* t = af_here();
    if (t != NULL) {
        units* ring = AF_OBJECT(units, s, AF_IS_SEMAPHORE);
        const uint64_t token = af_token();
        af_alone(t, s, 1, 1);
        af_event_add(t, AF_POST, token, 0);
        af_object_lock(&ring->object);
        if (ring->tail - ring->head == KEPT) {
            ring->fallen = ring->tokens[ring->head++ % KEPT];
            ring->credit++;
        }
        ring->tokens[ring->tail++ % KEPT] = token;
        af_object_unlock(&ring->object);
    }
    return AF_QUIETLY(AF_REAL(sem_post)(s));
}

static void sem_taken(af_thread* t, sem_t* s) {
    units* ring = AF_OBJECT(units, s, AF_IS_SEMAPHORE);
    uint64_t token = 0;
    af_object_lock(&ring->object);
    if (ring->credit > 0) {
        ring->credit--;
        token = ring->fallen;
    } else if (ring->head < ring->tail) {
        token = ring->tokens[ring->head++ % KEPT];
    }
    af_object_unlock(&ring->object);
    af_await(t, token, NULL);
    af_alone(t, s, 1, 1);
}

#define TAKING(wait)                                  \
    af_thread* const t = af_here();                   \
    if (t == NULL) return wait;                       \
    int result = AF_QUIETLY(AF_REAL(sem_trywait)(s)); \
    if (result != 0 && errno == EAGAIN) {             \
        af_block(t);                                  \
        result = AF_QUIETLY(wait);                    \
        const int kept = errno;                       \
        af_unblock(t);                                \
        errno = kept;                                 \
    }                                                 \
    if (result == 0) sem_taken(t, s);                 \
    return result

AF_API int sem_wait(sem_t* s) { TAKING(AF_REAL(sem_wait)(s)); }
AF_API int sem_timedwait(sem_t* s, const struct timespec* until) {
    TAKING(AF_REAL(sem_timedwait)(s, until));
}
AF_API int sem_trywait(sem_t* s) {
    af_thread* t = af_here();
    const int result = AF_QUIETLY(AF_REAL(sem_trywait)(s));
    if (t != NULL && result == 0) sem_taken(t, s);
    return result;
}
