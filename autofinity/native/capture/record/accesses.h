// Accesses: the fast path that every one of them takes.
//
//   access ─► open line? ─ yes ─► one more of the run                   (a few nanoseconds)
//                 └─ no ─► new slot ─► buffer full? ─► encode ─► chunk to the stream's file
//   sync   ─► closes every open line, then an event of its own
//
// Slots are reserved in the order of first accesses; later accesses to the same line within AF_SPAN
// instructions join the run. No access is ever left out.
#pragma once

#include "capture/record/slots.h"

enum {
    AF_SPAN = 512,          // longest run, in instructions
    AF_LONG_RUN = 1 << 14,  // accesses; a run with so many is closed
    AF_CHASE_BYTES = 512,   // farthest an access may lie from its base address
};

// Called every so often by every thread: closes long runs, stops at the end of the program, and
// waits for fairness.
AF_HIDDEN void af_look_around(af_thread* t);

static inline void af_spend(af_thread* t) {
    if (AF_UNLIKELY(--t->budget < 0)) af_look_around(t);
}

// Records an access in a slot of its own: atomics and lock words.
static inline void af_alone(af_thread* t, const volatile void* address, unsigned reads,
                            unsigned writes) {
    t->now += t->cost;
    af_make_room(t);
    af_fill_slot(t, t->now, (uint64_t)(uintptr_t)address >> 6,
                 af_slot_shape(af_slot_counts(reads, writes), AF_FLAG_ATOMIC, AF_ACCESS));
    af_close_lines(t);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

static inline af_open_line* af_open_at(af_thread* t, uintptr_t address) {
    const uintptr_t place = (address ^ address >> 7) >> 6 & (AF_OPEN - 1);
    return (af_open_line*)((char*)t->open + place * sizeof(af_open_line));
}

// Whether `size` bytes from `address` on lie in the open line.
static inline bool af_lies_in(const af_open_line* o, uintptr_t address, unsigned size) {
    return (address ^ o->base) <= 64 - size;
}

// Length of the run, in instructions, with an access at this instruction. The access may join
// unless the length is above AF_SPAN, or the run is closed. The look around closes runs that are
// too long in accesses.
static inline uint64_t af_span_of(const af_slot* s, uint64_t now) { return now - s->start; }

static inline bool af_is_open(const af_slot* closed, const af_slot* s, uint64_t span) {
    return s >= closed && span <= AF_SPAN;
}

static inline void af_join(af_slot* s, uint64_t span, uint32_t counts) {
    s->span = (uint16_t)span;
    s->counts += counts;
}

// Lets accesses join the open run of their line, as nearly all do. False: the line has none, or
// `size` bytes from `address` on reach into the next line. `floor`: as in af_thread.
static inline bool af_joins(af_thread* t, const af_slot* floor, uint64_t now, uintptr_t address,
                            unsigned size, uint32_t counts) {
    const af_open_line* const o = af_open_at(t, address);
    if (AF_UNLIKELY(!af_lies_in(o, address, size))) return false;
    const uint64_t span = af_span_of(o->slot, now);
    if (AF_UNLIKELY(!af_is_open(floor, o->slot, span))) return false;
    af_join(o->slot, span, counts);
    return true;
}

// Opens a run. There must be room for the slot.
static inline af_slot* af_open_run(af_thread* t, af_open_line* o, uint64_t now, uintptr_t address,
                                   uint32_t counts) {
    const unsigned flags = af_counted_reads(counts) == 0 ? AF_FLAG_FIRST_WRITE : 0;
    af_slot* const s = af_fill_slot(t, now, address >> 6, af_slot_shape(counts, flags, AF_ACCESS));
    o->base = address & ~(uintptr_t)63;
    o->slot = s;
    return s;
}

// Records accesses to the line of `address`.
static inline void af_line(af_thread* t, uintptr_t address, unsigned reads, unsigned writes) {
    af_open_line* const o = af_open_at(t, address);
    if (AF_LIKELY(af_lies_in(o, address, 1))) {
        af_slot* const run = o->slot;
        const uint64_t span = af_span_of(run, t->now);
        if (AF_LIKELY(af_is_open(t->closed, run, span) &&
                      ((run->reads | run->writes) & 0x8000) == 0)) {
            af_join(run, span, af_slot_counts(reads, writes));
            return;
        }
    }
    af_make_room(t);
    af_open_run(t, o, t->now, address, af_slot_counts(reads, writes));
}

// Notes a pointer chase: a line just opened lies where the load before it points.
static inline void af_note_chase(const af_thread* t, af_slot* s, uintptr_t address,
                                 uint64_t pointer) {
    if (AF_UNLIKELY(address - pointer < AF_CHASE_BYTES && s > t->slots))
        s[-1].flags |= AF_FLAG_DEPENDENT;
}

// Records as many accesses, one after the other. The accesses begin within one line, and if `size`
// bytes from there reach into the next line, each of them does.
AF_HIDDEN void af_accesses_apart(af_thread* t, uintptr_t address, unsigned size, unsigned reads,
                                 unsigned writes);

static inline void af_access_apart(af_thread* t, uintptr_t address, unsigned size, bool write) {
    af_accesses_apart(t, address, size, !write, write);
}

static inline bool af_within_line(uintptr_t address, unsigned size, bool aligned) {
    // Sizes are powers of two: an access with its natural alignment lies in one line.
    return aligned ? (address & (size - 1)) == 0 : (address & 63) + size <= 64;
}

// Lets an access join a run or open one: nearly all accesses do, in as few instructions as possible
// and with no call, so that no stack is needed. False: af_access_apart has to record the access;
// true: the access has to be taken off the budget (af_spend). `now`: the thread's instructions at
// the access. `aligned`: the access is aligned, as nearly all are that come by this call.
static inline bool af_access_quick(af_thread* t, uint64_t now, uintptr_t address, unsigned size,
                                   bool aligned, bool write) {
    const uint32_t counts = af_slot_counts(!write, write);
    if (AF_LIKELY(af_joins(t, t->floor, now, address, size, counts))) return true;
    if (AF_UNLIKELY(!af_within_line(address, size, aligned)) || !af_has_room(t)) return false;
    const uint64_t pointer = t->pointer;
    af_note_chase(t, af_open_run(t, af_open_at(t, address), now, address, counts), address,
                  pointer);
    return true;
}

static inline void af_access(af_thread* t, uintptr_t address, unsigned size, bool write) {
    if (AF_LIKELY(af_access_quick(t, t->now, address, size, true, write)))
        af_spend(t);
    else
        af_access_apart(t, address, size, write);
}

// Notes the address that a load of 8 bytes returned, aligned or not: it may be the base of the next
// access.
static inline void af_loaded_from(af_thread* t, uintptr_t address) {
    __builtin_memcpy(&t->pointer, (const void*)address, sizeof t->pointer);
}
