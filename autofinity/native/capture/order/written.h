// Which critical section reads what an earlier one of the same lock wrote.
#pragma once

#include "capture/state/thread.h"

enum { AF_LINES = 48 };  // that are remembered of a lock

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

// Token of the latest critical section of another thread that wrote what this one reads, or may
// have; 0: none. The section holds the slots from `from` on.
AF_HIDDEN uint64_t af_needed(const af_written* w, const af_thread* t, const af_slot* from);
// The section `token` of the calling thread ends, and held the slots from `from` on (NULL: some are
// gone).
AF_HIDDEN void af_remember_writes(af_written* w, const af_thread* t, const af_slot* from,
                                  uint64_t token);
