// Read-write locks of POSIX threads.
//
// As with mutexes (order/exclusion.c), a replay may order them freely unless a section reads lines
// that a writer wrote, or waits for another thread meanwhile.
#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/locks.h"
#include "capture/record/accesses.h"
#include "capture/state/arena.h"
#include "capture/state/common.h"

static af_section* section_of(af_thread* t, const af_rwlock* l) {
    uint32_t at = 0;
    while (at < t->sections_n && t->sections[at].lock != l) at++;
    return at < t->sections_n ? &t->sections[at] : NULL;
}

// Number of read unlocks that must come before a writer, which has the lock from here on.
static uint32_t take(af_rwlock* l, af_thread* t, bool writes) {
    if (!writes) return 0;
    const uint32_t readers = l->readers < AF_READERS ? l->readers : AF_READERS;
    l->writer = t;
    l->readers = 0;
    return readers;
}

// For a thread that holds too many locks to record: edges replace the lock.
static void order_without_lock(af_thread* t, af_rwlock* l, bool writes) {
    af_object_lock(&l->object);
    const uint64_t writer = l->object.who != t ? l->object.token : 0;
    const uint32_t readers = take(l, t, writes);
    l->strict = true;
    af_object_unlock(&l->object);
    af_await(t, writer, NULL);
    for (uint32_t i = 0; i < readers; i++) af_await(t, l->reads[i].token, l->reads[i].who);
}

// Until the needs of the section are known, the slots after the lock stand for awaits of the last
// writer's unlock and (before a writer) of the readers' unlocks since.
static void locked(af_thread* t, void* address, bool writes) {
    af_rwlock* l = AF_OBJECT(af_rwlock, address, AF_IS_RWLOCK);
    af_section* section = section_of(t, l);
    if (section != NULL) {
        section->depth++;
        return;
    }
    if (t->sections_n == AF_HELD) {
        order_without_lock(t, l, writes);
        return;
    }
    af_object_lock(&l->object);
    const uint64_t writer = l->object.who != t ? l->object.token : 0;
    const uint64_t id = l->object.id;
    const uint32_t readers = take(l, t, writes);
    af_object_unlock(&l->object);
    af_event_add(t, AF_LOCK, id, writes ? 0 : AF_SHARED);
    const uint64_t pending = af_event_add(t, AF_PENDING, writer, 0);
    // No other thread holds the lock if this one writes: the list does not change now.
    for (uint32_t i = 0; i < readers; i++)
        af_event_add(t, AF_PENDING, l->reads[i].who != t ? l->reads[i].token : 0, 0);
    t->sections[t->sections_n++] =
        (af_section){l, id, pending, 1 + readers, 1, t->held_n, t->posts, l->strict};
    af_alone(t, address, 1, 1);
}

// Keeps only those awaits that the section needs: all if the section must keep its order, otherwise
// that of the last writer whose lines it reads.
static void settle(af_thread* t, af_section* section, uint64_t token) {
    af_rwlock* l = section->lock;
    // Not the innermost section: the awaits of the sections inside are not known yet.
    if (section != &t->sections[t->sections_n - 1] || t->held_n > section->mutexes) {
        l->strict = true;
        section->ordered = true;
    }
    af_slot* const first = af_slot_at(t, section->pending);
    const af_slot* const from = first == NULL ? NULL : first + section->pendings + 1;
    bool waits = first == NULL;
    if (first != NULL) {
        const uint64_t needed = af_needed(&l->written, t, from);
        for (uint32_t i = 0; i < section->pendings; i++) {
            if (first[i].kind != AF_PENDING) continue;  // of a signal handler in between
            if (!section->ordered) first[i].value = 0;
            if (i == 0 && needed > first[i].value) first[i].value = needed;
            waits |= first[i].value != 0;
        }
    }
    if (l->writer == t) af_remember_writes(&l->written, t, from, token);
    if (waits) af_keep_order_of_held(t, l, section->posts);
}

static void rw_unlocking(af_thread* t, void* address) {
    af_rwlock* l = AF_OBJECT(af_rwlock, address, AF_IS_RWLOCK);
    af_section* section = section_of(t, l);
    if (section != NULL && --section->depth != 0) return;
    const uint64_t token = af_token();
    const bool known = section != NULL;
    const uint64_t id = known ? section->id : 0;
    if (known) {
        settle(t, section, token);
        af_section* const end = &t->sections[--t->sections_n];
        for (; section < end; section++) section[0] = section[1];
    }
    af_alone(t, address, 1, 1);
    af_event_add(t, AF_POST, token, 0);
    af_object_lock(&l->object);
    // Another thread's lock: the section of that thread has no end, so the lock counts as a new one
    // from here on.
    if (!known && l->writer != t) {
        l->object.id = af_ids(1);
        l->strict = true;
    }
    if (l->writer == t || (!known && l->writer != NULL)) {
        l->writer = NULL;
        l->object.token = token;
        l->object.who = t;
    } else {
        // A thread's later read unlock also covers its earlier ones.
        uint32_t at = 0;
        const uint32_t kept = l->readers < AF_READERS ? l->readers : AF_READERS;
        while (at < kept && l->reads[at].who != t) at++;
        if (at == kept) at = l->readers++ % AF_READERS;
        l->reads[at].token = token;
        l->reads[at].who = t;
    }
    af_object_unlock(&l->object);
    if (known) af_event_add(t, AF_UNLOCK, id, 0);
}

#define LOCKING(writes, attempt, wait) \
    AF_TAKING(attempt, wait, if (error == 0) locked(t, l, writes))

#define TRYING(writes, attempt)                        \
    af_thread* const t = af_here();                    \
    const int error = AF_QUIETLY(attempt);             \
    if (t != NULL && error == 0) locked(t, l, writes); \
    return error

AF_API int pthread_rwlock_rdlock(pthread_rwlock_t* l) {
    LOCKING(false, AF_REAL(pthread_rwlock_tryrdlock)(l), AF_REAL(pthread_rwlock_rdlock)(l));
}
AF_API int pthread_rwlock_timedrdlock(pthread_rwlock_t* l, const struct timespec* until) {
    LOCKING(false, AF_REAL(pthread_rwlock_tryrdlock)(l),
            AF_REAL(pthread_rwlock_timedrdlock)(l, until));
}
AF_API int pthread_rwlock_clockrdlock(pthread_rwlock_t* l, clockid_t clock,
                                      const struct timespec* until) {
    LOCKING(false, AF_REAL(pthread_rwlock_tryrdlock)(l),
            AF_REAL(pthread_rwlock_clockrdlock)(l, clock, until));
}
AF_API int pthread_rwlock_tryrdlock(pthread_rwlock_t* l) {
    TRYING(false, AF_REAL(pthread_rwlock_tryrdlock)(l));
}
AF_API int pthread_rwlock_wrlock(pthread_rwlock_t* l) {
    LOCKING(true, AF_REAL(pthread_rwlock_trywrlock)(l), AF_REAL(pthread_rwlock_wrlock)(l));
}
AF_API int pthread_rwlock_timedwrlock(pthread_rwlock_t* l, const struct timespec* until) {
    LOCKING(true, AF_REAL(pthread_rwlock_trywrlock)(l),
            AF_REAL(pthread_rwlock_timedwrlock)(l, until));
}
AF_API int pthread_rwlock_clockwrlock(pthread_rwlock_t* l, clockid_t clock,
                                      const struct timespec* until) {
    LOCKING(true, AF_REAL(pthread_rwlock_trywrlock)(l),
            AF_REAL(pthread_rwlock_clockwrlock)(l, clock, until));
}
AF_API int pthread_rwlock_trywrlock(pthread_rwlock_t* l) {
    TRYING(true, AF_REAL(pthread_rwlock_trywrlock)(l));
}
AF_API int pthread_rwlock_unlock(pthread_rwlock_t* l) {
    af_thread* t = af_here();
    if (t != NULL) rw_unlocking(t, l);
    return AF_QUIETLY(AF_REAL(pthread_rwlock_unlock)(l));
}
