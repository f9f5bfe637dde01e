// POSIX threads: creation, join and once. Every function does its work by calling the real one, and
// records the order that a replay must keep.
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/record/slots.h"
#include "capture/state/common.h"
#include "capture/threads/registry.h"
#include "capture/threads/roi.h"

static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

// Destructors of thread-local objects still run code of the program; our destructor runs in the
// last round.
static void thread_ends(void* argument) {
    af_thread* t = argument;
    if (++t->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        AF_UNHEARD(pthread_setspecific(end_key, t));
        return;
    }
    af_thread_leave(t);
}

static void make_end_key(void) { pthread_key_create(&end_key, thread_ends); }

// The kernel's masks have 64 bits.
static void set_signals(const uint64_t* mask, uint64_t* before) {
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, before, sizeof *mask);
}

static bool has_own_signals(const pthread_attr_t* attributes) {
    sigset_t own;
    return attributes != NULL &&
           pthread_attr_getsigmask_np(attributes, &own) != PTHREAD_ATTR_NO_SIGMASK_NP;
}

static void* thread_begins(void* argument) {
    af_thread* t = argument;
    pthread_setspecific(end_key, t);
    af_thread_enter(t);
    if (t->unblocks) set_signals(&t->signals, NULL);
    return t->start(t->argument);
}

// Attributes with a stack that has room for the runtime, too, where the program asks for a small
// one and has no memory of its own for it.
static const pthread_attr_t* with_room(const pthread_attr_t* asked, pthread_attr_t* own) {
    enum { LEAST = 128 << 10 };
    void* at;
    size_t size;
    if (asked == NULL || pthread_attr_getstack(asked, &at, &size) != 0) return asked;
    const bool chosen = size != 0, placed = (uintptr_t)at + size != 0;
    if (!chosen || placed || size >= LEAST) return asked;
    AF_UNHEARD(memcpy(own, asked, sizeof *own));
    return pthread_attr_setstacksize(own, LEAST) == 0 ? own : asked;
}

AF_API int pthread_create(pthread_t* handle, const pthread_attr_t* attributes,
                          void* (*start)(void*), void* argument) {
    // Run-time libraries create their pools in quiet calls: those threads are recorded as well.
    af_thread* me = af_mine != NULL ? af_mine : af_here();
    af_thread* t = NULL;
    if (me != NULL && af_recording()) {
        AF_UNHEARD(AF_REAL(pthread_once)(&end_key_once, make_end_key));
        af_parallel_begins(me);
        t = af_thread_new(me->number);
    }
    if (t == NULL) return AF_REAL(pthread_create)(handle, attributes, start, argument);
    t->start = start;
    t->argument = argument;
    t->begin_token = af_token();
    af_event_add(me, AF_POST, t->begin_token, 0);
    // The thread counts for fairness from now on, otherwise the threads before it would run ahead
    // while it starts.
    af_fair_enter(t);
    // No signal handler comes before the thread has its record: it would get one more.
    const uint64_t all = UINT64_MAX;
    uint64_t before;
    t->unblocks = !has_own_signals(attributes);
    set_signals(&all, &before);
    t->signals = before;
    int error;
    pthread_attr_t roomy;
    AF_UNHEARD(
        error = AF_REAL(pthread_create)(handle, with_room(attributes, &roomy), thread_begins, t));
    set_signals(&before, NULL);
    if (error != 0) {
        af_fair_leave(t);
        t->joined = true;
    }
    return error;
}

static void joined(af_thread* t, pthread_t handle) {
    af_thread* other = af_registry_find(handle);
    if (other == NULL || other->end_token == 0) return;
    other->joined = true;
    af_await(t, other->end_token, other);
    af_parallel_ends(t);
}

// Joins, in four forms: around a call that waits, then the edge from the end of the other thread.
#define JOINING(call)                   \
    af_thread* const t = af_here();     \
    if (t == NULL) return call;         \
    af_block(t);                        \
    const int error = AF_QUIETLY(call); \
    af_unblock(t);                      \
    if (error == 0) joined(t, handle);  \
    return error

AF_API int pthread_join(pthread_t handle, void** result) {
    JOINING(AF_REAL(pthread_join)(handle, result));
}
AF_API int pthread_tryjoin_np(pthread_t handle, void** result) {
    JOINING(AF_REAL(pthread_tryjoin_np)(handle, result));
}
AF_API int pthread_timedjoin_np(pthread_t handle, void** result, const struct timespec* until) {
    JOINING(AF_REAL(pthread_timedjoin_np)(handle, result, until));
}
AF_API int pthread_clockjoin_np(pthread_t handle, void** result, clockid_t clock,
                                const struct timespec* until) {
    JOINING(AF_REAL(pthread_clockjoin_np)(handle, result, clock, until));
}

// A thread that comes during or after the routine is ordered after it; recording this once per
// thread is enough.
AF_API int pthread_once(pthread_once_t* control, void (*routine)(void)) {
    af_thread* t = af_here();
    if (t == NULL) return AF_REAL(pthread_once)(control, routine);
    af_object* o = AF_OBJECT(af_object, control, AF_IS_ONCE);
    const bool first = atomic_exchange(&o->locked, 1) == 0;  // never released: used as a flag
    af_block(t);
    if (first) af_unblock(t);
    const int error = AF_REAL(pthread_once)(control, routine);
    if (first) {
        const uint64_t token = af_token();
        af_event_add(t, AF_POST, token, 0);
        __atomic_store_n(&o->token, token, __ATOMIC_RELEASE);
    } else {
        af_unblock(t);
        af_await(t, __atomic_load_n(&o->token, __ATOMIC_ACQUIRE), NULL);
    }
    return error;
}
