// Semaphores of POSIX threads.
#include <fcntl.h>
#include <semaphore.h>
#include <stdarg.h>

#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/pace/polling.h"
#include "capture/record/accesses.h"
#include "capture/state/common.h"

enum { KEPT = 64 };

// Tokens of posts not yet consumed, oldest first, in a ring.
typedef struct {
    af_object object;
    uint64_t head, tail;
    int64_t credit;   // units that existed at the start, or whose posts left the ring
    uint64_t fallen;  // token of the last post that left the ring
    uint64_t tokens[KEPT];
} units;

static void begin_with(sem_t* s, unsigned value) {
    units* ring = AF_OBJECT(units, s, AF_IS_SEMAPHORE);
    af_object_lock(&ring->object);
    ring->head = ring->tail = ring->fallen = 0;
    ring->credit = value;
    af_object_unlock(&ring->object);
}

AF_API int sem_init(sem_t* s, int shared, unsigned value) {
    if (af_here() != NULL) begin_with(s, value);
    return AF_QUIETLY(AF_REAL(sem_init)(s, shared, value));
}

// A semaphore that is opened again keeps its address.
AF_API sem_t* sem_open(const char* name, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
    const unsigned first = flags & O_CREAT ? va_arg(rest, unsigned) : 0;
    va_end(rest);
    sem_t* const s = AF_QUIETLY(AF_REAL(sem_open)(name, flags, mode, first));
    int value = 0;
    if (s != SEM_FAILED && af_here() != NULL &&
        af_object_known((uint64_t)(uintptr_t)s, AF_IS_SEMAPHORE) == NULL &&
        AF_QUIETLY(AF_REAL(sem_getvalue)(s, &value)) == 0)
        begin_with(s, (unsigned)value);
    return s;
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
AF_API int sem_clockwait(sem_t* s, clockid_t clock, const struct timespec* until) {
    TAKING(AF_REAL(sem_clockwait)(s, clock, until));
}
AF_API int sem_trywait(sem_t* s) {
    af_thread* t = af_here();
    const int result = AF_QUIETLY(AF_REAL(sem_trywait)(s));
    if (t != NULL && result == 0) sem_taken(t, s);
    return result;
}

// Reads the value without taking a unit: a thread that sees units comes after the last post, and a
// thread that reads again and again while there are none is waiting.
AF_API int sem_getvalue(sem_t* s, int* value) {
    af_thread* const t = af_here();
    const int result = AF_QUIETLY(AF_REAL(sem_getvalue)(s, value));
    if (t == NULL || result != 0) return result;
    bool woke;
    if (af_polling(t, (uintptr_t)s, (uint64_t)*value, &woke)) {
        af_rest(t);
        return result;
    }
    const units* const ring = AF_OBJECT(units, s, AF_IS_SEMAPHORE);
    if (*value > 0 && ring->tail > ring->head)
        af_await(t, ring->tokens[(ring->tail - 1) % KEPT], NULL);
    af_alone(t, s, 1, 0);
    af_polled(t, (uintptr_t)s, (uint64_t)*value);
    return result;
}
