// SPDX-License-Identifier: GPL-2.0-or-later
//
// Loops of an unmodified binary that wait by looking at one address again and again.
//
// Loads of one address with nothing in between are either a wait or work (a constant that a loop
// takes from memory). This is only known at their end: they were a wait if another thread has
// written there meanwhile. Until then the loads are kept back, and the address is watched: a thread
// that stores to it posts a token. A wait costs no instructions and ends by awaiting that token;
// loads that were work are then recorded.
#pragma once

#include "capture/record/accesses.h"

struct spinning_place;

// The state of a thread; only the thread itself uses it.
typedef struct spinning {
    uint64_t address;  // of the last load, or locked instruction
    // The thread's own just after that load; both stay the same while the thread records nothing.
    const af_slot* next;
    int32_t budget;
    uint64_t value;
    uint32_t repeats;
    uint64_t kept;                 // loads kept back
    uint64_t from;                 // instruction count at the first of them
    struct spinning_place* place;  // record of the address, while loads are kept back
    uint64_t token;                // of the last store there, when keeping back began
} spinning;

// Words of 8 bytes on which some thread has waited, as bits of a hash: stores there are looked up.
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

// The thread reads the address of its last read again. True: the access is kept back.
AF_HIDDEN bool spinning_again(spinning* s, af_thread* t, unsigned size);
// Ends loads that were kept back: another access or event comes.
AF_HIDDEN void spinning_ends(spinning* s, af_thread* t);
// Called after a store to a word that may be watched was recorded.
AF_HIDDEN void spinning_stored(af_thread* t, uint64_t address, unsigned size, bool locked);

// Called before an access is recorded. True: the access is not to be recorded.
static inline bool spinning_before(spinning* s, af_thread* t, uint64_t address, unsigned size,
                                   bool looks) {
    if (AF_UNLIKELY(address == s->address && looks)) return spinning_again(s, t, size);
    if (AF_UNLIKELY(s->kept != 0)) spinning_ends(s, t);
    return false;
}

// Called after a load of another address than the last one was recorded.
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

// Called after the access was recorded.
static inline void spinning_after(spinning* s, af_thread* t, uint64_t address, unsigned size,
                                  bool looks, bool stores) {
    if (looks && s->address == address)
        spinning_note_position(s, t);
    else if (looks)
        spinning_looked_elsewhere(s, t, address);
    if (stores && spinning_is_watched(address)) spinning_stored(t, address, size, looks);
}
