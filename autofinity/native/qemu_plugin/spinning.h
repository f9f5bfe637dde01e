// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops of an unmodified binary that wait by looking at one address again and again.
//
// Whether loads of one address with nothing in between are a wait or work (a constant that a loop
// takes from memory) is only known in the end: it was a wait if another thread has written there
// meanwhile. Until then the loads are kept back, and the address is watched: whoever stores to it
// posts a token. A wait costs no instructions and ends by awaiting that token; what was work is
// recorded after all.
#pragma once

#include "capture/record/accesses.h"

struct spinning_place;

// What is remembered of a thread; only the thread itself looks at it.
typedef struct spinning {
    uint64_t address;  // of the last load, or locked instruction
    const af_slot*
        next;        // the thread's, just after it: they stay as they are as long as the thread
    int32_t budget;  // records nothing
    uint64_t value;
    uint32_t repeats;
    uint64_t kept;                 // loads kept back
    uint64_t from;                 // instruction count where that began
    struct spinning_place* place;  // the address, while loads are kept back
    uint64_t token;                // of the last store there, as they began to be
} spinning;

// Words of 8 bytes that some thread has waited at, as bits of a hash: stores there are looked up.
extern AF_HIDDEN _Atomic uint64_t spinning_watched;

static inline uint64_t spinning_bit(uint64_t address) {
    return 1ull << ((address >> 3) * 0x9e3779b97f4a7c15ull >> 58);
}

static inline bool spinning_recorded_nothing(const spinning* s, const af_thread* t) {
    return s->next == t->next && s->budget == t->budget;
}

static inline void spinning_note_position(spinning* s, const af_thread* t) {
    s->next = t->next;
    s->budget = t->budget;
}

// The thread looks again at the address that it looked at last. True: the access is kept back.
AF_HIDDEN bool spinning_again(spinning* s, af_thread* t, unsigned size);
// Something else comes after loads that were kept back.
AF_HIDDEN void spinning_ends(spinning* s, af_thread* t);
// After the record of a store at a word that is watched, perhaps.
AF_HIDDEN void spinning_stored(af_thread* t, uint64_t address, unsigned size, bool locked);

// Before an access is recorded; true: it is not to be.
static inline bool spinning_before(spinning* s, af_thread* t, uint64_t address, unsigned size,
                                   bool looks) {
    if (AF_UNLIKELY(address == s->address && looks)) return spinning_again(s, t, size);
    if (AF_UNLIKELY(s->kept != 0)) spinning_ends(s, t);
    return false;
}

// After a load of another address than the last was recorded.
static inline void spinning_looked_elsewhere(spinning* s, const af_thread* t, uint64_t address) {
    s->repeats = 0;
    s->address = address;
    spinning_note_position(s, t);
}

// Whether a store at the address must be looked up.
static inline bool spinning_is_watched(uint64_t address) {
    return AF_UNLIKELY(atomic_load_explicit(&spinning_watched, memory_order_relaxed) &
                       spinning_bit(address));
}

// After it was.
static inline void spinning_after(spinning* s, af_thread* t, uint64_t address, unsigned size,
                                  bool looks, bool stores) {
    if (looks && s->address == address)
        spinning_note_position(s, t);
    else if (looks)
        spinning_looked_elsewhere(s, t, address);
    if (stores && spinning_is_watched(address)) spinning_stored(t, address, size, looks);
}
