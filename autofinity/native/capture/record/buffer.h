// The bounds of a thread's buffer: the slots that later accesses may still join, and the slots that
// can be filled without further checks.
#pragma once

#include "capture/state/thread.h"

// Whether a slot can be filled at once: nothing is unsettled, no fence was just made, and the
// buffer is not full.
static inline bool af_has_room(const af_thread* t) { return AF_LIKELY(t->next < t->limit); }

// Sets the limits of af_access_quick, which must do nothing where it would have to charge
// instructions.
static inline void af_set_limits(af_thread* t) {
    const bool quick = t->cost == 0;
    t->floor = quick ? t->closed : (af_slot*)UINTPTR_MAX;
    t->limit =
        quick && t->unsettled == NULL && t->beside_fence == 0 ? t->slots + AF_SLOTS : t->slots;
}

// Makes the thread call `settle`, which reads `word` once more, before the next slot is filled.
// NULL: nothing to settle.
static inline void af_unsettle(af_thread* t, _Atomic uint64_t* word, void (*settle)(af_thread*)) {
    t->unsettled = word;
    t->settle = settle;
    af_set_limits(t);
}

// Closes all lines: later accesses open slots of their own.
static inline void af_close_lines(af_thread* t) {
    t->closed = t->next;
    if (AF_LIKELY(t->cost == 0)) t->floor = t->next;
}
