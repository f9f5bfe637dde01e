// Mutual exclusion of POSIX threads: mutexes and spin locks (order/exclusion.c has the order
// rules).
#include "capture/interpose/mutexes.h"

#include <string.h>

#include "capture/interpose/interpose.h"
#include "capture/order/exclusion.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"

// The mutex of a dead owner counts as taken, too (robust mutexes).
static bool took(int error) { return error == 0 || error == EOWNERDEAD; }

#define LOCKING(address, attempt, wait) \
    AF_TAKING(attempt, wait, if (took(error)) af_acquired(t, (uint64_t)(uintptr_t)(address), true))

void af_mutex_begins(pthread_mutex_t* m) {
    af_mutex* known = (af_mutex*)af_object_known((uint64_t)(uintptr_t)m, AF_IS_MUTEX);
    if (known != NULL) {
        const size_t kept = offsetof(af_object, token);
        AF_UNHEARD(memset((char*)known + kept, 0, sizeof *known - kept));
        known->object.id = af_ids(1);
    }
}

AF_API int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) {
    af_mutex_begins(m);
    return AF_QUIETLY(AF_REAL(pthread_mutex_init)(m, attributes));
}
AF_API int pthread_mutex_lock(pthread_mutex_t* m) {
    LOCKING(m, AF_REAL(pthread_mutex_trylock)(m), AF_REAL(pthread_mutex_lock)(m));
}
AF_API int pthread_mutex_timedlock(pthread_mutex_t* m, const struct timespec* until) {
    LOCKING(m, AF_REAL(pthread_mutex_trylock)(m), AF_REAL(pthread_mutex_timedlock)(m, until));
}
AF_API int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock,
                                   const struct timespec* until) {
    LOCKING(m, AF_REAL(pthread_mutex_trylock)(m),
            AF_REAL(pthread_mutex_clocklock)(m, clock, until));
}
AF_API int pthread_mutex_trylock(pthread_mutex_t* m) {
    af_thread* t = af_here();
    const int error = AF_QUIETLY(AF_REAL(pthread_mutex_trylock)(m));
    if (t == NULL) return error;
    if (took(error)) {
        af_acquired(t, (uint64_t)(uintptr_t)m, true);
    } else if (error == EBUSY) {
        af_attempt_failed(t, m);
    }
    return error;
}
// glibc refuses other threads than the owner only where the mutex knows its owner (__kind: types 1
// and 2, robust 16, priority 32 and 64).
static bool anyone_may_unlock(const pthread_mutex_t* m) {
    enum { KIND = 0x7f, ADAPTIVE = 3 };
    const int kind = m->__data.__kind & KIND;
    return kind == PTHREAD_MUTEX_NORMAL || kind == ADAPTIVE;
}

AF_API int pthread_mutex_unlock(pthread_mutex_t* m) {
    af_thread* t = af_here();
    const uint64_t key = (uint64_t)(uintptr_t)m;
    if (t != NULL && (af_owns(t, key) || anyone_may_unlock(m))) af_releasing(t, key, true);
    return AF_QUIETLY(AF_REAL(pthread_mutex_unlock)(m));
}

AF_API int pthread_spin_lock(pthread_spinlock_t* m) {
    af_thread* t = af_here();
    if (t == NULL) return AF_REAL(pthread_spin_lock)(m);
    int error = AF_QUIETLY(AF_REAL(pthread_spin_trylock)(m));
    if (error == EBUSY) {
        af_block(t);
        // The real function would use a whole time slice while the holder waits for a core.
        for (unsigned polls = 0; (error = AF_QUIETLY(AF_REAL(pthread_spin_trylock)(m))) == EBUSY;
             polls++) {
            af_sleep(polls < 100 ? 1 : 50);
            af_count_spins(1);
        }
        af_unblock(t);
    }
    if (took(error)) af_acquired(t, (uint64_t)(uintptr_t)m, true);
    return error;
}
AF_API int pthread_spin_trylock(pthread_spinlock_t* m) {
    af_thread* t = af_here();
    const int error = AF_QUIETLY(AF_REAL(pthread_spin_trylock)(m));
    if (t == NULL) return error;
    if (error == 0)
        af_acquired(t, (uint64_t)(uintptr_t)m, true);
    else if (error == EBUSY)
        af_attempt_failed(t, (void*)m);
    return error;
}
AF_API int pthread_spin_unlock(pthread_spinlock_t* m) {
    af_thread* t = af_here();
    if (t != NULL) af_releasing(t, (uint64_t)(uintptr_t)m, true);
    return AF_QUIETLY(AF_REAL(pthread_spin_unlock)(m));
}
