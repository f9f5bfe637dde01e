// The bounds of a thread's buffer: which slots are still open to later accesses, and up to where
// slots may be filled without a second look.
#pragma once

#include "capture/state/thread.h"

// Whether a slot can be filled at once: nothing is unsettled, no fence was just made, and the
// buffer is not full.
static inline bool af_has_room(const af_thread* t) { return AF_LIKELY(t->next < t->limit); }

// What af_access_quick may do: nothing where it would have to charge instructions.
static inline void af_set_limits(af_thread* t) {
    const bool quick = t->cost == 0;
    t->floor = quick ? t->closed : (af_slot*)UINTPTR_MAX;
    t->limit =
        quick && t->unsettled == NULL && t->beside_fence == 0 ? t->slots + AF_SLOTS : t->slots;
}

// Before the next slot is filled, `settle` is called, which looks at `word` once more. NULL: none.
static inline void af_unsettle(af_thread* t, _Atomic uint64_t* word, void (*settle)(af_thread*)) {
    t->unsettled = word;
    t->settle = settle;
    af_set_limits(t);
}

// Later accesses open slots of their own.
static inline void af_close_lines(af_thread* t) {
    t->closed = t->next;
    if (AF_LIKELY(t->cost == 0)) t->floor = t->next;
}
