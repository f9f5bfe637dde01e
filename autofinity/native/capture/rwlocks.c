// Read-write locks of POSIX threads.
//
// The trace knows mutual exclusion only. Writers take it; readers do not, but come after the last
// writer, and a writer comes after the readers before it, in the order of the capture.
#include <errno.h>

#include "interpose.h"
#include "objects.h"

REAL(pthread_rwlock_rdlock)
REAL(pthread_rwlock_tryrdlock)
REAL(pthread_rwlock_timedrdlock)
REAL(pthread_rwlock_wrlock)
REAL(pthread_rwlock_trywrlock)
REAL(pthread_rwlock_timedwrlock)
REAL(pthread_rwlock_unlock)

static void read_locked(af_thread* t, void* address) {
    af_rwlock* l = AF_OBJECT(af_rwlock, address, AF_IS_RWLOCK);
    af_object_lock(&l->object);
    const uint64_t token = l->object.token;
    const af_thread* who = l->object.who;
    af_object_unlock(&l->object);
    af_await(t, token, who);
    af_alone(t, address, 1, 1);
}

static void write_locked(af_thread* t, void* address) {
    af_rwlock* l = AF_OBJECT(af_rwlock, address, AF_IS_RWLOCK);
    af_event_add(t, AF_LOCK, l->object.id, 0);
    af_object_lock(&l->object);
    l->owner = t;
    const uint64_t token = l->object.token;
    const af_thread* who = l->object.who;
    const uint32_t readers = l->readers;
    l->readers = 0;
    af_object_unlock(&l->object);
    af_await(t, token, who);
    // Nobody else holds it: the list does not change now.
    for (uint32_t i = 0; i < readers && i < AF_RING; i++)
        af_await(t, l->reads[i].token, l->reads[i].who);
    af_alone(t, address, 1, 1);
}

static void rw_unlocking(af_thread* t, void* address) {
    af_rwlock* l = AF_OBJECT(af_rwlock, address, AF_IS_RWLOCK);
    const uint64_t token = af_token();
    af_alone(t, address, 1, 1);
    af_event_add(t, AF_POST, token, 0);
    af_object_lock(&l->object);
    if (l->owner == t) {
        l->owner = NULL;
        l->object.token = token;
        l->object.who = t;
        af_object_unlock(&l->object);
        af_event_add(t, AF_UNLOCK, l->object.id, 0);
        return;
    }
    // A thread's later read unlock stands for its earlier ones.
    uint32_t at = 0;
    const uint32_t kept = l->readers < AF_RING ? l->readers : AF_RING;
    while (at < kept && l->reads[at].who != t) at++;
    if (at == kept) at = l->readers++ % AF_RING;
    l->reads[at].token = token;
    l->reads[at].who = t;
    af_object_unlock(&l->object);
}

#define RW_LOCKING(done, attempt, wait) AF_TAKING(attempt, wait, if (error == 0) done(t, l))

AF_API int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
    RW_LOCKING(read_locked, real_pthread_rwlock_tryrdlock()(l), real_pthread_rwlock_rdlock()(l));
}
AF_API int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const struct timespec* until) {
    RW_LOCKING(read_locked, real_pthread_rwlock_tryrdlock()(l),
               real_pthread_rwlock_timedrdlock()(l, until));
}
AF_API int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
    RW_LOCKING(read_locked, real_pthread_rwlock_tryrdlock()(l), EBUSY);
}
AF_API int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
    RW_LOCKING(write_locked, real_pthread_rwlock_trywrlock()(l), real_pthread_rwlock_wrlock()(l));
}
AF_API int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const struct timespec* until) {
    RW_LOCKING(write_locked, real_pthread_rwlock_trywrlock()(l),
               real_pthread_rwlock_timedwrlock()(l, until));
}
AF_API int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
    RW_LOCKING(write_locked, real_pthread_rwlock_trywrlock()(l), EBUSY);
}
AF_API int pthread_rwlock_unlock(pthread_rwlock_t* l) {
    af_thread* t = af_here();
    if (t != NULL) rw_unlocking(t, l);
    return AF_QUIETLY(real_pthread_rwlock_unlock()(l));
}
