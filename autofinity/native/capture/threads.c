// POSIX threads: who waits for whom, as events. Every function does what it is asked by the real
// one; what is recorded is the order that a replay must keep.
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

#include "objects.h"

#define REAL(name)                                                                       \
    static __typeof__(&name) real_##name##_pointer;                                      \
    static inline __typeof__(&name) real_##name(void) {                                  \
        __typeof__(&name) f = __atomic_load_n(&real_##name##_pointer, __ATOMIC_RELAXED); \
        if (AF_UNLIKELY(f == NULL)) {                                                    \
            f = (__typeof__(&name))af_next(#name);                                       \
            __atomic_store_n(&real_##name##_pointer, f, __ATOMIC_RELAXED);               \
        }                                                                                \
        return f;                                                                        \
    }

// ---------------------------------------------------------------------- creation and join

static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

// Destructors of thread-local objects still run code of the program; ours comes in the last round.
static void thread_ends(void* argument) {
    af_thread* t = argument;
    if (++t->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, t);
        return;
    }
    af_thread_leave(t);
}

static void make_end_key(void) { pthread_key_create(&end_key, thread_ends); }

static void* thread_begins(void* argument) {
    af_thread* t = argument;
    pthread_setspecific(end_key, t);
    af_thread_enter(t);
    return t->start(t->argument);
}

REAL(pthread_once)
REAL(pthread_create)
AF_API int pthread_create(pthread_t* handle, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument) {
    // Run-time libraries create their pools in quiet calls: those threads are recorded as well.
    af_thread* me = af_mine != NULL ? af_mine : af_here();
    af_thread* t = NULL;
    if (me != NULL && af_recording()) {
        real_pthread_once()(&end_key_once, make_end_key);
        af_parallel_begins();
        t = af_thread_new(me->number);
    }
    if (t == NULL) return real_pthread_create()(handle, attributes, start, argument);
    t->start = start;
    t->argument = argument;
    t->begin_token = af_token();
    af_event_add(me, AF_POST, t->begin_token, 0);
    // It counts from now on, or the threads before it would run away from it while it starts.
    af_fair_enter(t);
    af_thread* saved = af_quiet();
    const int error = real_pthread_create()(handle, attributes, thread_begins, t);
    af_loud(saved);
    if (error != 0) {
        af_fair_leave(t);
        t->joined = true;
    }
    return error;
}

static void joined(af_thread* t, pthread_t handle) {
    af_thread* other = af_find_by_handle(handle);
    if (other == NULL || other->end_token == 0) return;
    other->joined = true;
    af_await(t, other->end_token, other);
    af_parallel_ends();
}

// Joins, in four forms: around a call that waits, then the edge from the end of the other thread.
#define JOINING(call)                  \
    af_thread* const t = af_here();    \
    if (t == NULL) return call;        \
    af_block(t);                       \
    const int error = call;            \
    af_unblock(t);                     \
    if (error == 0) joined(t, handle); \
    return error

REAL(pthread_join)
AF_API int pthread_join(pthread_t handle, void** result) {
    JOINING(real_pthread_join()(handle, result));
}
REAL(pthread_tryjoin_np)
AF_API int pthread_tryjoin_np(pthread_t handle, void** result) {
    JOINING(real_pthread_tryjoin_np()(handle, result));
}
REAL(pthread_timedjoin_np)
AF_API int pthread_timedjoin_np(pthread_t handle, void** result, const struct timespec* until) {
    JOINING(real_pthread_timedjoin_np()(handle, result, until));
}
REAL(pthread_clockjoin_np)
AF_API int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                const struct timespec* until) {
    JOINING(real_pthread_clockjoin_np()(handle, result, clock, until));
}

// --------------------------------------------------------------------------------- mutexes

// A dead owner's mutex is taken too (robust mutexes).
static bool took(int error) { return error == 0 || error == EOWNERDEAD; }

#define LOCKING(address, attempt, wait)                                    \
    af_thread* const t = af_here();                                        \
    if (t == NULL) return wait;                                            \
    int error = attempt;                                                   \
    if (error == EBUSY) {                                                  \
        af_block(t);                                                       \
        error = wait;                                                      \
        af_unblock(t);                                                     \
    }                                                                      \
    if (took(error)) af_acquired(t, (uint64_t)(uintptr_t)(address), true); \
    return error

REAL(pthread_mutex_init)
REAL(pthread_mutex_trylock)
REAL(pthread_mutex_lock)
REAL(pthread_mutex_timedlock)
REAL(pthread_mutex_clocklock)
REAL(pthread_mutex_unlock)

AF_API int pthread_mutex_init(pthread_mutex_t* m, const pthread_mutexattr_t* attributes) {
    // The address may have been another mutex before: nothing is known of the new one.
    af_mutex* known = (af_mutex*)af_object_known((uint64_t)(uintptr_t)m, AF_IS_MUTEX);
    if (known != NULL) {
        const size_t kept = offsetof(af_object, token);
        af_thread* const saved = af_quiet();  // this memset is not the program's
        memset((char*)known + kept, 0, sizeof *known - kept);
        af_loud(saved);
        known->object.id = af_ids(1);
    }
    return real_pthread_mutex_init()(m, attributes);
}
AF_API int pthread_mutex_lock(pthread_mutex_t* m) {
    LOCKING(m, real_pthread_mutex_trylock()(m), real_pthread_mutex_lock()(m));
}
AF_API int pthread_mutex_timedlock(pthread_mutex_t* m, const struct timespec* until) {
    LOCKING(m, real_pthread_mutex_trylock()(m), real_pthread_mutex_timedlock()(m, until));
}
AF_API int pthread_mutex_clocklock(pthread_mutex_t* m, clockid_t clock,
                                   const struct timespec* until) {
    LOCKING(m, real_pthread_mutex_trylock()(m), real_pthread_mutex_clocklock()(m, clock, until));
}
AF_API int pthread_mutex_trylock(pthread_mutex_t* m) {
    af_thread* t = af_here();
    const int error = real_pthread_mutex_trylock()(m);
    if (t == NULL) return error;
    if (took(error)) {
        af_acquired(t, (uint64_t)(uintptr_t)m, true);
    } else if (error == EBUSY) {
        af_attempt_failed(t, m);
    }
    return error;
}
AF_API int pthread_mutex_unlock(pthread_mutex_t* m) {
    af_thread* t = af_here();
    if (t != NULL) af_releasing(t, (uint64_t)(uintptr_t)m, true);
    return real_pthread_mutex_unlock()(m);
}

REAL(pthread_spin_init)
REAL(pthread_spin_lock)
REAL(pthread_spin_trylock)
REAL(pthread_spin_unlock)
AF_API int pthread_spin_lock(pthread_spinlock_t* m) {
    af_thread* t = af_here();
    if (t == NULL) return real_pthread_spin_lock()(m);
    int error = real_pthread_spin_trylock()(m);
    if (error == EBUSY) {
        af_block(t);
        // The real one would burn a whole time slice while the holder waits for a core.
        for (unsigned polls = 0; (error = real_pthread_spin_trylock()(m)) == EBUSY; polls++) {
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
    const int error = real_pthread_spin_trylock()(m);
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
    return real_pthread_spin_unlock()(m);
}

// ------------------------------------------------------------------------- read-write locks
//
// The trace knows mutual exclusion only. Writers take it; readers do not, but come after the last
// writer, and a writer comes after the readers before it, in the order of the capture.

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

#define RW_LOCKING(done, attempt, wait) \
    af_thread* const t = af_here();     \
    if (t == NULL) return wait;         \
    int error = attempt;                \
    if (error == EBUSY) {               \
        af_block(t);                    \
        error = wait;                   \
        af_unblock(t);                  \
    }                                   \
    if (error == 0) done(t, l);         \
    return error

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
    return real_pthread_rwlock_unlock()(l);
}

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
    const int error = call;                                       \
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
    return real_pthread_cond_signal()(c);
}
AF_API int pthread_cond_broadcast(pthread_cond_t* c) {
    signalling(c, true);
    return real_pthread_cond_broadcast()(c);
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
    return real_sem_init()(s, shared, value);
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
    return real_sem_post()(s);
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

#define SEM_TAKING(wait)                  \
    af_thread* const t = af_here();       \
    if (t == NULL) return wait;           \
    int result = real_sem_trywait()(s);   \
    if (result != 0 && errno == EAGAIN) { \
        af_block(t);                      \
        result = wait;                    \
        const int kept = errno;           \
        af_unblock(t);                    \
        errno = kept;                     \
    }                                     \
    if (result == 0) sem_taken(t, s);     \
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
    return real_pthread_barrier_init()(b, attributes, count);
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
    const int result = real_pthread_barrier_wait()(b);
    af_unblock(t);
    return result;
}

// ------------------------------------------------------------------------------------- once
//
// Whoever comes while or after the routine ran comes after it; once per thread is enough to say.

AF_API int pthread_once(pthread_once_t* control, void (*routine)(void)) {
    af_thread* t = af_here();
    if (t == NULL) return real_pthread_once()(control, routine);
    af_object* o = AF_OBJECT(af_object, control, AF_IS_ONCE);
    const bool first = atomic_exchange(&o->locked, 1) == 0;  // never released: it is a flag here
    af_block(t);
    if (first) af_unblock(t);
    const int error = real_pthread_once()(control, routine);
    if (first) {
        o->who = t;
        const uint64_t token = af_token();
        af_event_add(t, AF_POST, token, 0);
        __atomic_store_n(&o->token, token, __ATOMIC_RELEASE);
    } else {
        af_unblock(t);
        af_await(t, __atomic_load_n(&o->token, __ATOMIC_ACQUIRE), NULL);
    }
    return error;
}
