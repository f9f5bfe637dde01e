// The way from an interposed function to the real one behind it.
#ifndef AUTOFINITY_CAPTURE_INTERPOSE_H
#define AUTOFINITY_CAPTURE_INTERPOSE_H

#include <errno.h>

#include "record.h"

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

// The body of a function that takes a lock: an attempt, and only if it is held a wait during which
// nobody waits for this thread. `taken` sees the thread as `t` and what came of it as `error`.
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

// The real function of a library that may not be there, such as libgomp.
#define AF_REAL(type, name, parameters)                                        \
    ({                                                                         \
        static type(*pointer) parameters;                                      \
        type(*found) parameters = __atomic_load_n(&pointer, __ATOMIC_RELAXED); \
        if (AF_UNLIKELY(found == NULL)) {                                      \
            found = (type(*) parameters)af_next(#name);                        \
            __atomic_store_n(&pointer, found, __ATOMIC_RELAXED);               \
        }                                                                      \
        found;                                                                 \
    })

#endif
