// SPDX-License-Identifier: GPL-2.0-or-later
#include "qemu_plugin/spinning.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/order/awaiting.h"
#include "capture/pace/fair.h"
#include "capture/state/common.h"

enum {
    PATIENT_LOOKS = 16,  // looks in a row at one address that may still be ordinary code
    PLACES = 64,
    REST_EVERY = 16,
    REST_LESS_AFTER = 4096,
    REST_LESS_EVERY = 1024,
    REST_US = 50,
    STORE_COMES_WITHIN = 1000,  // rests: the store was seen in memory, and its record follows soon
};

// A word on which some thread has waited.
typedef struct spinning_place {
    _Atomic uint64_t word;   // address / 8, or 0
    _Atomic uint64_t token;  // of the last store
    _Atomic(af_thread*) who;
    _Atomic uint64_t value;  // left by a locked instruction
    _Atomic int unseen;      // stores there are not reported to us
} spinning_place;

static spinning_place places[PLACES];
_Atomic uint64_t spinning_watched;

// Places are never freed: the first free one ends the search.
static spinning_place* place_of(uint64_t address) {
    for (int i = 0; i < PLACES; i++) {
        const uint64_t word = atomic_load_explicit(&places[i].word, memory_order_acquire);
        if (word == address >> 3) return &places[i];
        if (word == 0) return NULL;
    }
    return NULL;
}

// NULL when there are too many places.
static spinning_place* watch(uint64_t address) {
    spinning_place* found = place_of(address);
    for (int i = 0; i < PLACES && found == NULL; i++) {
        uint64_t empty = 0;
        if (atomic_compare_exchange_strong(&places[i].word, &empty, address >> 3) ||
            empty == address >> 3)
            found = &places[i];
    }
    if (found != NULL) atomic_fetch_or(&spinning_watched, spinning_bit(address));
    return found;
}

static uint64_t value_at(uint64_t address, unsigned size) {
    uint64_t value = 0;
    memcpy(&value, (const void*)address, size < 8 ? size : 8);
    return value;
}

static void say_unseen(uint64_t address) {
    char text[160];
    const int n = snprintf(text, sizeof text,
                           "autofinity capture: a thread waited at 0x%llx for a store that was not "
                           "seen; the replay does not wait there\n",
                           (unsigned long long)address);
    if (n > 0 && write(2, text, (size_t)n) < 0) return;
}

// The value has changed: its store is in memory, and its token follows soon.
static void expect_store(spinning* s) {
    for (int i = 0; atomic_load(&s->place->token) == s->token; i++) {
        if (i == STORE_COMES_WITHIN) {
            if (!atomic_exchange(&s->place->unseen, 1)) say_unseen(s->address);
        }
        if (atomic_load(&s->place->unseen)) return;
        af_sleep(REST_US);
    }
}

// The kept loads were a wait: it takes no instructions, and a replay waits for the store.
static void was_a_wait(spinning* s, af_thread* t) {
    af_unblock(t);
    af_count_spins(s->kept);
    t->now = s->from;
    s->kept = 0;
    s->repeats = 0;
    const uint64_t token = atomic_load_explicit(&s->place->token, memory_order_acquire);
    if (token != s->token) af_await(t, token, atomic_load(&s->place->who));
}

// The kept loads were work: loads of one line, with their number and distances.
static void was_work(spinning* s, af_thread* t) {
    af_unblock(t);
    const uint64_t until = t->now, kept = s->kept;
    const uint64_t runs = 1 + (until - s->from) / AF_SPAN + kept / AF_LONG_RUN;
    s->kept = 0;
    s->repeats = 0;
    for (uint64_t i = 0; i < runs; i++) {
        const uint64_t reads = kept * (i + 1) / runs - kept * i / runs;
        t->now = s->from + (until - s->from) * i / runs;
        af_line(t, s->address, (unsigned)reads, 0);
        t->budget -= (int32_t)reads - 1;
        af_spend(t);
    }
    t->now = until;
}

void spinning_ends(spinning* s, af_thread* t) {
    if (atomic_load(&s->place->token) != s->token)
        was_a_wait(s, t);
    else
        was_work(s, t);
}

static bool begins_to_wait(spinning* s, af_thread* t) {
    if (atomic_load_explicit(&af_shared->fair.top, memory_order_relaxed) < 2) return false;
    s->place = watch(s->address);
    if (s->place == NULL) return false;
    s->token = atomic_load(&s->place->token);
    s->from = t->now;
    af_block(t);
    return true;
}

bool spinning_again(spinning* s, af_thread* t, unsigned size) {
    const bool next = spinning_recorded_nothing(s, t);
    if (!next && s->kept != 0) spinning_ends(s, t);
    const uint64_t value = value_at(s->address, size);
    if (!next || s->repeats == 0 || (s->kept == 0 && value != s->value)) {
        s->value = value;
        s->repeats = 1;
        return false;
    }
    s->repeats++;
    if (s->kept == 0 && (s->repeats < PATIENT_LOOKS || !begins_to_wait(s, t))) return false;
    if (value != s->value) expect_store(s);
    if (value != s->value || atomic_load(&s->place->token) != s->token) {
        was_a_wait(s, t);
        return false;
    }
    s->kept++;
    if (s->kept % (s->kept < REST_LESS_AFTER ? REST_EVERY : REST_LESS_EVERY) == 0)
        af_sleep(REST_US);
    return true;
}

void spinning_stored(af_thread* t, uint64_t address, unsigned size, bool locked) {
    spinning_place* place = place_of(address);
    if (place == NULL) return;
    // An attempt on a lock that is held writes the value that is already there.
    const uint64_t value = value_at(address, size);
    if (locked && atomic_load(&place->token) != 0 && value == atomic_load(&place->value)) return;
    const uint64_t token = af_token();
    af_event_add(t, AF_POST, token, 0);
    atomic_store(&place->value, value);
    atomic_store(&place->who, t);
    atomic_store(&place->token, token);
}
