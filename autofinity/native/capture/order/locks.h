// The record of a lock.
#pragma once

#include "capture/order/objects.h"
#include "capture/order/written.h"

enum { AF_READERS = 64 };  // read unlocks that are remembered

typedef struct af_mutex {
    af_object object;
    af_thread* owner;
    uint32_t depth;
    uint64_t posts;    // posts of its owner until then
    uint64_t before;   // token of the unlock before this critical section, or 0
    bool ordered;      // this critical section must come after that one in a replay
    bool strict;       // and so must all later ones
    uint64_t pending;  // number of the slot that may become an await
    af_written written;
} af_mutex;

typedef struct af_rwlock {
    af_object object;
    _Atomic bool strict;  // from now on, sections keep the order of the capture
    af_written written;
    const af_thread* writer;  // the thread that holds it for writing
    uint32_t readers;
    struct {
        uint64_t token;
        const af_thread* who;
    } reads[AF_READERS];  // read unlocks since the last write lock
} af_rwlock;
