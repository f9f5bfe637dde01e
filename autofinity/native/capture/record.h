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
static inline bool af_has_room(const af_thread* t) {
    return AF_LIKELY(t->unsettled == NULL && t->n < AF_SLOTS);
}

static inline void af_make_room(af_thread* t) {
    if (AF_UNLIKELY(t->unsettled != NULL)) t->settle(t);
    if (AF_UNLIKELY(t->n >= AF_SLOTS)) af_drain(t);
}

// The shape of a slot, as the union in af_slot has it.
static inline uint64_t af_slot_shape(unsigned reads, unsigned writes, unsigned flags,
                                     unsigned kind) {
    return reads | (uint64_t)writes << 16 | (uint64_t)flags << 48 | (uint64_t)kind << AF_KIND_SHIFT;
}

// There is room for it. Its aux is left as it is, which nobody asks an access for.
static inline af_slot* af_fill_slot(af_thread* t, uint64_t value, uint64_t shape) {
    const uint32_t index = t->n++;
    af_slot* s = &t->slots[index];
    s->value = value;
    s->start = t->now;
    s->shape = shape;
    s->sequence = (uint32_t)t->base + index;
    t->pointer = 0;
    return s;
}

// Later accesses open slots of their own.
static inline void af_close_lines(af_thread* t) { t->floor = t->slots + t->n; }

// An event that is not an access. Returns its number for good (see af_slot_at).
static inline uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    af_make_room(t);
    af_slot* const s = af_fill_slot(t, value, af_slot_shape(0, 0, 0, kind));
    s->aux = (uint16_t)aux;
    t->posts += kind == AF_POST;
    af_close_lines(t);
    return t->base + (uint64_t)(s - t->slots);
}

static inline af_slot* af_slot_at(af_thread* t, uint64_t number) {
    return number >= t->base && number < t->base + t->n ? &t->slots[number - t->base] : NULL;
}

static inline void af_spend(af_thread* t) {
    if (AF_UNLIKELY(--t->budget <= 0)) af_look_around(t);
}

// An access that stands alone: atomics and lock words.
static inline void af_alone(af_thread* t, const volatile void* address, unsigned reads,
                            unsigned writes) {
    t->now += t->cost;
    af_make_room(t);
    af_fill_slot(t, (uint64_t)(uintptr_t)address >> 6,
                 af_slot_shape(reads, writes, AF_FLAG_ATOMIC, AF_ACCESS));
    af_close_lines(t);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

static inline af_open_line* af_open_at(af_thread* t, uint64_t line) {
    return &t->open[(line ^ line >> 7) & (AF_OPEN - 1)];
}

// The slot of the line's run, where one more access may join it, or NULL. A run that is long for
// another reason than its span is closed by the look around.
static inline af_slot* af_run_of(const af_open_line* o, const af_thread* t, uint64_t line) {
    af_slot* const s = o->slot;
    if (AF_UNLIKELY(o->line != line || s < t->floor || t->now - s->start > AF_SPAN)) return NULL;
    return s;
}

static inline void af_join(const af_thread* t, af_slot* s, unsigned reads, unsigned writes) {
    s->span = (uint16_t)(t->now - s->start);
    s->reads = (uint16_t)(s->reads + reads);
    s->writes = (uint16_t)(s->writes + writes);
}

// There is room for the slot.
static inline af_slot* af_open_run(af_thread* t, af_open_line* o, uint64_t line, unsigned reads,
                                   unsigned writes) {
    const unsigned flags = reads == 0 ? AF_FLAG_FIRST_WRITE : 0;
    af_slot* const s = af_fill_slot(t, line, af_slot_shape(reads, writes, flags, AF_ACCESS));
    o->line = line;
    o->slot = s;
    return s;
}

static inline void af_line(af_thread* t, uint64_t line, unsigned reads, unsigned writes) {
    af_open_line* const o = af_open_at(t, line);
    af_slot* const run = af_run_of(o, t, line);
    if (AF_LIKELY(run != NULL && ((run->reads | run->writes) & 0x8000) == 0)) {
        af_join(t, run, reads, writes);
        return;
    }
    af_make_room(t);
    af_open_run(t, o, line, reads, writes);
}

// Pointer chase: a line just opened lies where the load before it points.
static inline void af_note_chase(const af_thread* t, af_slot* s, uintptr_t address,
                                 uint64_t pointer) {
    if (AF_UNLIKELY(address - pointer < AF_CHASE_BYTES && s > t->slots))
        s[-1].flags |= AF_FLAG_DEPENDENT;
}

// As many accesses, one after the other, whose instructions are counted already and whose first is
// taken off the budget. They begin within one line, and if `size` bytes from there reach into the
// next, so does each of them.
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
// call, so that no stack is needed. False: it is to be recorded by af_access_apart. `aligned`: as
// nearly all with this call are.
static inline bool af_access_quick(af_thread* t, uintptr_t address, unsigned size, bool aligned,
                                   bool write) {
    const uint64_t line = address >> 6;
    af_open_line* const o = af_open_at(t, line);
    t->now += t->cost;
    if (AF_UNLIKELY(--t->budget <= 0 || !af_within_line(address, size, aligned))) return false;
    af_slot* const run = af_run_of(o, t, line);
    if (AF_LIKELY(run != NULL)) {
        af_join(t, run, !write, write);
        return true;
    }
    if (!af_has_room(t)) return false;
    const uint64_t pointer = t->pointer;
    af_note_chase(t, af_open_run(t, o, line, !write, write), address, pointer);
    return true;
}

static inline void af_access(af_thread* t, uintptr_t address, unsigned size, bool write) {
    if (AF_UNLIKELY(!af_access_quick(t, address, size, true, write)))
        af_access_apart(t, address, size, write);
}

// What a load of pointer size returns: the base of the next access, perhaps.
static inline void af_loaded(af_thread* t, uint64_t value) { t->pointer = value; }

#endif
