// For each critical section, the earlier sections of the same lock whose writes it reads.
#pragma once

#include "capture/state/thread.h"

enum { AF_LINES = 48 };  // number of lines that are remembered per lock

// Lines written under a lock, and the last critical section that wrote each. Changed only by the
// thread that holds the lock.
typedef struct af_written {
    uint64_t opaque;  // of the last critical section with writes that are not all known
    const af_thread* opaque_who;
    uint32_t next;
    struct {
        uint64_t line, token;
        const af_thread* who;
    } lines[AF_LINES];
} af_written;

// Token of the latest critical section of another thread that wrote, or may have written, a line
// that this section reads; 0: none. The section holds the slots from `from` on.
AF_HIDDEN uint64_t af_needed(const af_written* w, const af_thread* t, const af_slot* from);
// Ends the section `token` of the calling thread, which held the slots from `from` on (NULL: some
// slots are gone).
AF_HIDDEN void af_remember_writes(af_written* w, const af_thread* t, const af_slot* from,
                                  uint64_t token);
