// The runtime's records of addresses on which programs synchronise: a mutex, an atomic, …
#pragma once

#include "capture/state/thread.h"

typedef enum {
    AF_IS_ATOMIC,  // one address
    AF_IS_MUTEX,
    AF_IS_RWLOCK,
    AF_IS_COND,
    AF_IS_SEMAPHORE,
    AF_IS_BARRIER,
    AF_IS_ONCE,
    AF_IS_EDGE,        // a worksharing construct of a team
    AF_IS_ITERATION,   // of a doacross loop
    AF_IS_DEPENDENCE,  // an address that tasks depend on
} af_object_kind;

typedef struct af_object {
    _Atomic(struct af_object*) next;
    uint64_t key;
    uint64_t id;
    uint32_t kind;
    _Atomic int locked;
    uint64_t token;  // of the last release, and the thread that made it:
    const af_thread* who;
} af_object;

// Finds or makes the record of (key, kind); `size` is the size of the struct that embeds the
// record.
AF_HIDDEN af_object* af_object_of(uint64_t key, af_object_kind kind, size_t size);
// As af_object_of, but never makes a record.
AF_HIDDEN af_object* af_object_known(uint64_t key, af_object_kind kind);

#define AF_OBJECT(type, address, kind) \
    ((type*)af_object_of((uint64_t)(uintptr_t)(address), kind, sizeof(type)))

AF_HIDDEN void af_object_lock(af_object* o);
AF_HIDDEN void af_object_unlock(af_object* o);
