// Conditions of POSIX threads.
//
// The system does not show which signal wakes which waiter. A waiter that wakes takes the oldest
// signal since the begin of its wait that no other waiter has taken (a broadcast is for all), so
// every edge points forward in the time of the capture and no cycle can arise. A thread woken by a
// broadcast counts for fairness from then on, not when it runs again: otherwise other threads would
// reach the next wait before it has left this one, and it would take their mutex after them.
#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/exclusion.h"
#include "capture/record/accesses.h"
#include "capture/state/common.h"

enum { KEPT = 64 };

// The last signals of a condition, in a ring.
typedef struct {
    af_object object;
    uint64_t next;  // number of the next one
    _Atomic uint64_t broadcasts;
    struct {
        uint64_t token;
        bool broadcast, consumed;
    } items[KEPT];
} condition;

static void signalling(pthread_cond_t* c, bool broadcast) {
    af_thread* t = af_here();
    if (t == NULL) return;
    condition* known = AF_OBJECT(condition, c, AF_IS_COND);
    const uint64_t token = af_token();
    af_alone(t, c, 1, 1);
    af_event_add(t, AF_POST, token, 0);
    af_object_lock(&known->object);
    const uint64_t at = known->next++ % KEPT;
    known->items[at].token = token;
    known->items[at].broadcast = broadcast;
    known->items[at].consumed = false;
    if (broadcast) atomic_fetch_add(&known->broadcasts, 1);
    af_object_unlock(&known->object);
}

static uint64_t signal_since(condition* known, uint64_t since) {
    uint64_t token = 0;
    af_object_lock(&known->object);
    if (known->next > KEPT && since < known->next - KEPT) since = known->next - KEPT;
    for (uint64_t i = since; i < known->next && token == 0; i++) {
        if (known->items[i % KEPT].consumed) continue;
        token = known->items[i % KEPT].token;
        known->items[i % KEPT].consumed = !known->items[i % KEPT].broadcast;
    }
    af_object_unlock(&known->object);
    return token;
}

#define WAITING(call)                                                                   \
    af_thread* const t = af_here();                                                     \
    if (t == NULL) return call;                                                         \
    condition* const known = AF_OBJECT(condition, c, AF_IS_COND);                       \
    af_object_lock(&known->object);                                                     \
    const uint64_t since = known->next;                                                 \
    const uint64_t broadcasts = atomic_load(&known->broadcasts);                        \
    af_object_unlock(&known->object);                                                   \
    af_alone(t, c, 1, 1);                                                               \
    const bool held = af_owns(t, (uint64_t)(uintptr_t)m);                               \
    if (held) af_releasing(t, (uint64_t)(uintptr_t)m, true);                            \
    af_block_at(t, &known->broadcasts, broadcasts + 1);                                 \
    const int error = AF_QUIETLY(call);                                                 \
    af_unblock(t);                                                                      \
    if (error == 0) af_await(t, signal_since(known, since), NULL);                      \
    /* Refused, as with a time that is none, it holds what it held. */                  \
    if (held && error != ENOTRECOVERABLE) af_acquired(t, (uint64_t)(uintptr_t)m, true); \
    return error

AF_API int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
    WAITING(AF_REAL(pthread_cond_wait)(c, m));
}
AF_API int pthread_cond_timedwait(pthread_cond_t* c, pthread_mutex_t* m,
                                  const struct timespec* until) {
    WAITING(AF_REAL(pthread_cond_timedwait)(c, m, until));
}
AF_API int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock,
                                  const struct timespec* until) {
    WAITING(AF_REAL(pthread_cond_clockwait)(c, m, clock, until));
}
AF_API int pthread_cond_signal(pthread_cond_t* c) {
    signalling(c, false);
    return AF_QUIETLY(AF_REAL(pthread_cond_signal)(c));
}
AF_API int pthread_cond_broadcast(pthread_cond_t* c) {
    signalling(c, true);
    return AF_QUIETLY(AF_REAL(pthread_cond_broadcast)(c));
}
