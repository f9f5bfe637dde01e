// Basics of all interposed functions: the real function behind each, and the calling thread.
#pragma once

#include <errno.h>

#include "capture/pace/fair.h"
#include "capture/threads/streams.h"

// The real function of that name, as declared, from the libraries behind this one. The function is
// looked up when it is needed first, not earlier: libgomp may be loaded late or not at all, and
// constructors of other libraries call us before our own has run. Several threads may look it up at
// once; all find the same address, and only the address itself is passed on, so relaxed atomics are
// enough.
//
// NULL if there is none, and while the calling thread is looking it up: dlsym may call the very
// function that it is to find. Only the functions in memory.c have to expect this case.
#define AF_REAL(name)                                  \
    ({                                                 \
        static _Atomic(void*) af_found_;               \
        (__typeof__(&name))af_real(&af_found_, #name); \
    })

AF_HIDDEN void* af_look_up(_Atomic(void*)* found, const char* name);

static inline void* af_real(_Atomic(void*)* found, const char* name) {
    void* const real = atomic_load_explicit(found, memory_order_relaxed);
    return AF_LIKELY(real != NULL) ? real : af_look_up(found, name);
}

// The body of a function that takes a lock: an attempt, and, only if the lock is held, a wait
// during which nobody waits for this thread. `taken` sees the thread as `t` and the result as
// `error`.
#define AF_TAKING(attempt, wait, taken) \
    af_thread* const t = af_here();     \
    if (t == NULL) return wait;         \
    int error = AF_QUIETLY(attempt);    \
    if (error == EBUSY) {               \
        af_block(t);                    \
        error = AF_QUIETLY(wait);       \
        af_unblock(t);                  \
    }                                   \
    taken;                              \
    return error
