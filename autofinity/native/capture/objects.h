// What the runtime remembers of an address that programs synchronise on: a mutex, an atomic, …
#ifndef AUTOFINITY_CAPTURE_OBJECTS_H
#define AUTOFINITY_CAPTURE_OBJECTS_H

#include "record.h"

enum { AF_LINES = 48, AF_RING = 64 };

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
    uint64_t token;  // of the last release; who did it:
    const af_thread* who;
} af_object;

// Lines written under a lock, and in which critical section last. Changed by who holds it alone.
typedef struct af_written {
    uint64_t opaque;  // token of the last critical section whose writes are not all known
    const af_thread* opaque_who;
    uint32_t next;
    struct {
        uint64_t line, token;
        const af_thread* who;
    } lines[AF_LINES];
} af_written;

typedef struct af_mutex {
    af_object object;
    af_thread* owner;
    uint32_t depth;
    uint64_t posts;    // that its owner had made
    uint64_t before;   // token of the unlock before this critical section, or 0
    bool ordered;      // this critical section must come after that one
    bool strict;       // so must all from now on
    uint64_t pending;  // number of the slot that may become an await
    af_written written;
} af_mutex;

// Tokens of posts not yet consumed, oldest first (semaphores), or of signals (conditions).
typedef struct af_ring {
    af_object object;
    uint64_t head, tail;
    int64_t credit;   // semaphores: units that were there from the start, or fell off the ring
    uint64_t fallen;  // token of the last that fell off
    struct {
        uint64_t token;
        bool broadcast, consumed;
    } items[AF_RING];
} af_ring;

typedef struct af_rwlock {
    af_object object;
    _Atomic bool strict;  // sections keep the order of the capture from now on
    af_written written;
    const af_thread* writer;  // that holds it
    uint32_t readers;
    struct {
        uint64_t token;
        const af_thread* who;
    } reads[AF_RING];  // read unlocks since the last write lock
} af_rwlock;

typedef struct af_barrier_object {
    af_object object;
    unsigned count;
    _Atomic uint64_t arrivals;
} af_barrier_object;

// Finds or makes the record of (key, kind); `size` is that of the struct which embeds it.
AF_HIDDEN af_object* af_object_of(uint64_t key, af_object_kind kind, size_t size);
// As above, never makes one.
AF_HIDDEN af_object* af_object_known(uint64_t key, af_object_kind kind);

AF_HIDDEN void af_object_lock(af_object* o);
AF_HIDDEN void af_object_unlock(af_object* o);

// Notes an await unless this thread did so before; `who` posted it.
AF_HIDDEN void af_await(af_thread* t, uint64_t token, const af_thread* who);

// A thread that waits, after `posts` posts of its own, keeps the order of the locks that it holds,
// outside of `inside` if given.
AF_HIDDEN void af_keep_order_of_held(af_thread* t, const void* inside, uint64_t posts);

// Token of the latest critical section of another thread that wrote what this one reads, or may
// have; 0: none. The section holds the slots from `from` on.
AF_HIDDEN uint64_t af_needed(const af_written* w, const af_thread* t, const af_slot* from);
// The section `token` of the calling thread ends, and held the slots from `from` on (NULL: some are
// gone).
AF_HIDDEN void af_remember_writes(af_written* w, const af_thread* t, const af_slot* from,
                                  uint64_t token);

// A unit begins or ends: what comes may be replayed by another thread, which has awaited nothing
// yet.
AF_HIDDEN void af_forget_awaited(af_thread* t);

// Mutual exclusion on any address: pthread mutexes and spin locks, OpenMP critical sections, locks.
// `word`: the address holds a lock word of the program, whose line is touched.
AF_HIDDEN void af_acquired(af_thread* t, uint64_t key, bool word);
AF_HIDDEN void af_releasing(af_thread* t, uint64_t key, bool word);

#define AF_OBJECT(type, address, kind) \
    ((type*)af_object_of((uint64_t)(uintptr_t)(address), kind, sizeof(type)))

#endif
