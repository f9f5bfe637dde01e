// The recorder: one buffer of events per thread, and the fast path that every access takes.
//
//   access ─► open line? ─ yes ─► one more of the run                   (a few nanoseconds)
//                 └─ no ─► new slot ─► buffer full? ─► encode ─► chunk to the stream's file
//   sync   ─► closes every open line, then an event of its own
//
// Slots are reserved in the order of first accesses, so a stream is in program order; later
// accesses to the same line within AF_SPAN instructions join the run. Nothing is ever filtered out.
#ifndef AUTOFINITY_CAPTURE_RECORD_H
#define AUTOFINITY_CAPTURE_RECORD_H

#include "thread.h"

// streams.c
AF_HIDDEN af_thread* af_thread_new(uint32_t parent);
AF_HIDDEN void af_thread_enter(af_thread* t);  // calling thread is `t` from now on
AF_HIDDEN void af_thread_leave(af_thread* t);  // last event, everything written
AF_HIDDEN af_thread* af_find_by_handle(pthread_t handle);
AF_HIDDEN void* af_next(const char* symbol);  // the real function behind an interposed one

// record.c
AF_HIDDEN void af_drain(af_thread* t);  // encodes all slots
AF_HIDDEN void af_make_room_apart(af_thread* t);
AF_HIDDEN void af_look_around(af_thread* t);
AF_HIDDEN void af_seal_chunk(af_thread* t);
AF_HIDDEN void af_append(const char* path, const void* data, size_t size);
AF_HIDDEN void af_stream_path(const af_thread* t, char* path, size_t size);
AF_HIDDEN void af_fail(const char* what, const char* path, int error);
AF_HIDDEN uint64_t af_accesses_of(const af_thread* t);
AF_HIDDEN void af_count_spins(uint64_t polls);

// arena.c
AF_HIDDEN uint64_t af_ids(uint64_t count);  // `count` unique numbers for objects and instances
AF_HIDDEN void* af_map(size_t bytes);       // zeroed pages, or NULL
AF_HIDDEN void* af_alloc(size_t bytes);     // zeroed, never given back

// process.c, roi.c
AF_HIDDEN void af_finish(void);
AF_HIDDEN void af_parallel_begins(void);
AF_HIDDEN void af_parallel_ends(void);

// polling.c: the same values seen over and over, with nothing else in between, are a wait. From the
// fourth time on nothing is recorded, the time slice is given up, and no instructions are charged.
AF_HIDDEN void af_stop_polling(af_thread* t);  // if it does something else by now
AF_HIDDEN void af_end_polling(af_thread* t);
// A load (or a failed attempt) saw `value`. Returns true when it is one more poll that is not to be
// recorded; `*woke` when the value has changed after polling.
AF_HIDDEN bool af_polling(af_thread* t, uintptr_t address, uint64_t value, bool* woke);
AF_HIDDEN void af_rest(const af_thread* t);
// The window takes in what was just recorded for `address`.
AF_HIDDEN void af_polled(af_thread* t, uintptr_t address, uint64_t value);
// An attempt on a lock that is held: polled in a loop, it counts as waiting.
AF_HIDDEN void af_attempt_failed(af_thread* t, const volatile void* word);

// fair.c
AF_HIDDEN void af_fair_enter(af_thread* t);
AF_HIDDEN void af_fair_leave(af_thread* t);
AF_HIDDEN void af_fair_check(af_thread* t);
AF_HIDDEN void af_block(af_thread* t);  // about to wait for another thread
AF_HIDDEN void af_unblock(af_thread* t);
AF_HIDDEN void af_block_at(af_thread* t, _Atomic uint64_t* gate, uint64_t need);
AF_HIDDEN void af_sleep(unsigned microseconds);

// Whether a slot can be filled at once: nothing is unsettled, and the buffer is not full.
static inline bool af_has_room(const af_thread* t) { return AF_LIKELY(t->next < t->limit); }

static inline void af_make_room(af_thread* t) {
    if (!af_has_room(t)) af_make_room_apart(t);
}

// What af_access_quick may do: nothing where it would have to charge instructions.
static inline void af_set_limits(af_thread* t) {
    const bool quick = t->cost == 0;
    t->floor = quick ? t->closed : (af_slot*)UINTPTR_MAX;
    t->limit = quick && t->unsettled == NULL ? t->slots + AF_SLOTS : t->slots;
}

// Before the next slot is filled, `settle` is called, which looks at `word` once more. NULL: none.
static inline void af_unsettle(af_thread* t, _Atomic uint64_t* word, void (*settle)(af_thread*)) {
    t->unsettled = word;
    t->settle = settle;
    af_set_limits(t);
}

// The shape of a slot, as the union in af_slot has it.
static inline uint64_t af_slot_shape(unsigned reads, unsigned writes, unsigned flags,
                                     unsigned kind) {
    return reads | (uint64_t)writes << 16 | (uint64_t)flags << 48 | (uint64_t)kind << AF_KIND_SHIFT;
}

// There is room for it.
static inline af_slot* af_fill_slot(af_thread* t, uint64_t now, uint64_t value, uint64_t shape) {
    af_slot* const s = t->next++;
    s->value = value;
    s->start = now;
    s->shape = shape;
    t->pointer = 0;
    return s;
}

// Later accesses open slots of their own.
static inline void af_close_lines(af_thread* t) {
    t->closed = t->next;
    if (AF_LIKELY(t->cost == 0)) t->floor = t->next;
}

// An event that is not an access. Returns its number for good (see af_slot_at).
static inline uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    af_make_room(t);
    af_slot* const s = af_fill_slot(t, t->now, value, af_slot_shape(0, 0, 0, kind));
    s->aux = (uint16_t)aux;
    t->posts += kind == AF_POST;
    af_close_lines(t);
    return t->base + (uint64_t)(s - t->slots);
}

static inline af_slot* af_slot_at(af_thread* t, uint64_t number) {
    const uint64_t in_use = (uint64_t)(t->next - t->slots);
    return number - t->base < in_use ? &t->slots[number - t->base] : NULL;
}

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

#endif
