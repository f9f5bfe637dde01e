// Accesses: the fast path that every one of them takes.
//
//   access ─► open line? ─ yes ─► one more of the run                   (a few nanoseconds)
//                 └─ no ─► new slot ─► buffer full? ─► encode ─► chunk to the stream's file
//   sync   ─► closes every open line, then an event of its own
//
// Slots are reserved in the order of first accesses; later accesses to the same line within AF_SPAN
// instructions join the run. Nothing is ever filtered out.
#pragma once

#include "capture/record/slots.h"

enum {
    AF_SPAN = 512,          // instructions a run may last
    AF_LONG_RUN = 1 << 14,  // accesses; a run that has so many is closed then
    AF_CHASE_BYTES = 512,   // from a base address, what is accessed by it
};

// Now and then, by every thread: closes long runs, stops at the end of the program, is fair.
AF_HIDDEN void af_look_around(af_thread* t);

static inline void af_spend(af_thread* t) {
    if (AF_UNLIKELY(--t->budget < 0)) af_look_around(t);
}

// An access that stands alone: atomics and lock words.
static inline void af_alone(af_thread* t, const volatile void* address, unsigned reads,
                            unsigned writes) {
    t->now += t->cost;
    af_make_room(t);
    af_fill_slot(t, t->now, (uint64_t)(uintptr_t)address >> 6,
                 af_slot_shape(reads, writes, AF_FLAG_ATOMIC, AF_ACCESS));
    af_close_lines(t);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

static inline af_open_line* af_open_at(af_thread* t, uintptr_t address) {
    const uintptr_t place = (address ^ address >> 7) >> 6 & (AF_OPEN - 1);
    return (af_open_line*)((char*)t->open + place * sizeof(af_open_line));
}

// Where in the open line `size` bytes from `address` on lie, as they do when this is true.
static inline bool af_lies_in(const af_open_line* o, uintptr_t address, unsigned size) {
    return (address ^ o->base) <= 64 - size;
}

// How long the run would last with an access at this instruction. It may join unless that is more
// than AF_SPAN, or the run is closed. One that is long for another reason than its span is closed
// by the look around.
static inline uint64_t af_span_of(const af_slot* s, uint64_t now) { return now - s->start; }

static inline bool af_is_open(const af_slot* closed, const af_slot* s, uint64_t span) {
    return s >= closed && span <= AF_SPAN;
}

static inline void af_join(af_slot* s, uint64_t span, unsigned reads, unsigned writes) {
    s->span = (uint16_t)span;
    s->reads = (uint16_t)(s->reads + reads);
    s->writes = (uint16_t)(s->writes + writes);
}

// There is room for the slot.
static inline af_slot* af_open_run(af_thread* t, af_open_line* o, uint64_t now, uintptr_t address,
                                   unsigned reads, unsigned writes) {
    const unsigned flags = reads == 0 ? AF_FLAG_FIRST_WRITE : 0;
    af_slot* const s =
        af_fill_slot(t, now, address >> 6, af_slot_shape(reads, writes, flags, AF_ACCESS));
    o->base = address & ~(uintptr_t)63;
    o->slot = s;
    return s;
}

// Accesses to the line of `address`.
static inline void af_line(af_thread* t, uintptr_t address, unsigned reads, unsigned writes) {
    af_open_line* const o = af_open_at(t, address);
    if (AF_LIKELY(af_lies_in(o, address, 1))) {
        af_slot* const run = o->slot;
        const uint64_t span = af_span_of(run, t->now);
        if (AF_LIKELY(af_is_open(t->closed, run, span) &&
                      ((run->reads | run->writes) & 0x8000) == 0)) {
            af_join(run, span, reads, writes);
            return;
        }
    }
    af_make_room(t);
    af_open_run(t, o, t->now, address, reads, writes);
}

// Pointer chase: a line just opened lies where the load before it points.
static inline void af_note_chase(const af_thread* t, af_slot* s, uintptr_t address,
                                 uint64_t pointer) {
    if (AF_UNLIKELY(address - pointer < AF_CHASE_BYTES && s > t->slots))
        s[-1].flags |= AF_FLAG_DEPENDENT;
}

// As many accesses, one after the other. They begin within one line, and if `size` bytes from there
// reach into the next, so does each of them.
AF_HIDDEN void af_accesses_apart(af_thread* t, uintptr_t address, unsigned size, unsigned reads,
                                 unsigned writes);

static inline void af_access_apart(af_thread* t, uintptr_t address, unsigned size, bool write) {
    af_accesses_apart(t, address, size, !write, write);
}

static inline bool af_within_line(uintptr_t address, unsigned size, bool aligned) {
    // Sizes are powers of two: what has its natural alignment lies in one line.
    return aligned ? (address & (size - 1)) == 0 : (address & 63) + size <= 64;
}

// Nearly all accesses join a run or open one here, in as few instructions as can be and with no
// call, so that no stack is needed. False: it is to be recorded by af_access_apart; true: it is to
// be taken off the budget (af_spend). `now`: the thread's instructions at the access. `aligned`: as
// nearly all with this call are.
static inline bool af_access_quick(af_thread* t, uint64_t now, uintptr_t address, unsigned size,
                                   bool aligned, bool write) {
    af_open_line* const o = af_open_at(t, address);
    if (AF_LIKELY(af_lies_in(o, address, size))) {
        af_slot* const run = o->slot;
        const uint64_t span = af_span_of(run, now);
        if (AF_LIKELY(af_is_open(t->floor, run, span))) {
            af_join(run, span, !write, write);
            return true;
        }
    }
    if (AF_UNLIKELY(!af_within_line(address, size, aligned)) || !af_has_room(t)) return false;
    const uint64_t pointer = t->pointer;
    af_note_chase(t, af_open_run(t, o, now, address, !write, write), address, pointer);
    return true;
}

static inline void af_access(af_thread* t, uintptr_t address, unsigned size, bool write) {
    if (AF_LIKELY(af_access_quick(t, t->now, address, size, true, write)))
        af_spend(t);
    else
        af_access_apart(t, address, size, write);
}

// What a load of 8 bytes returned, aligned or not: the base of the next access, perhaps.
static inline void af_loaded_from(af_thread* t, uintptr_t address) {
    __builtin_memcpy(&t->pointer, (const void*)address, sizeof t->pointer);
}
