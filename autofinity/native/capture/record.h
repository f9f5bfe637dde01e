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

static inline uint32_t af_new_slot(af_thread* t, uint64_t value, uint8_t kind) {
    if (AF_UNLIKELY(t->unsettled != NULL)) t->settle(t);
    if (AF_UNLIKELY(t->n >= AF_SLOTS)) af_drain(t);
    const uint32_t index = t->n++;
    af_slot* s = &t->slots[index];
    s->value = value;
    s->start = t->now;
    s->reads = s->writes = s->span = s->aux = 0;
    s->kind = kind;
    s->flags = 0;
    s->sequence = (uint32_t)(t->base + index);
    return index;
}

// Later accesses open slots of their own.
static inline void af_close_lines(af_thread* t) { t->floor = t->slots + t->n; }

// An event that is not an access. Returns its number for good (see af_slot_at).
static inline uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    const uint32_t index = af_new_slot(t, value, kind);
    t->slots[index].aux = (uint16_t)aux;
    t->posts += kind == AF_POST;
    af_close_lines(t);
    return t->base + index;
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
    const uint32_t index = af_new_slot(t, (uint64_t)(uintptr_t)address >> 6, AF_ACCESS);
    af_slot* s = &t->slots[index];
    s->reads = (uint16_t)reads;
    s->writes = (uint16_t)writes;
    s->flags = AF_FLAG_ATOMIC;
    af_close_lines(t);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

static inline af_open_line* af_open_at(af_thread* t, uint64_t line) {
    return &t->open[(line ^ line >> 7) & (AF_OPEN - 1)];
}

// The slot of the line's run where one more access may join it, or NULL.
static inline af_slot* af_run_of(af_thread* t, uint64_t line) {
    const af_open_line* o = af_open_at(t, line);
    if (AF_UNLIKELY(o->line != line || o->slot < t->floor)) return NULL;
    af_slot* s = o->slot;
    if (AF_UNLIKELY(t->now - s->start > AF_SPAN || ((s->reads | s->writes) & 0x8000) != 0))
        return NULL;
    return s;
}

static inline void af_join(const af_thread* t, af_slot* s, unsigned reads, unsigned writes) {
    s->span = (uint16_t)(t->now - s->start);
    s->reads = (uint16_t)(s->reads + reads);
    s->writes = (uint16_t)(s->writes + writes);
}

static inline void af_line(af_thread* t, uint64_t line, unsigned reads, unsigned writes) {
    af_slot* run = af_run_of(t, line);
    if (AF_LIKELY(run != NULL)) {
        af_join(t, run, reads, writes);
        return;
    }
    af_slot* s = &t->slots[af_new_slot(t, line, AF_ACCESS)];
    s->reads = (uint16_t)reads;
    s->writes = (uint16_t)writes;
    s->flags = reads == 0 ? AF_FLAG_FIRST_WRITE : 0;
    af_open_line* o = af_open_at(t, line);
    o->line = line;
    o->slot = s;
}

// The access joins an open run: the path that most take, in as few instructions as can be, and with
// no call, so that it needs no stack. False: af_access_apart is to record it.
static inline bool af_access_joins(af_thread* t, uintptr_t address, unsigned size, bool write) {
    t->now += t->cost;
    af_slot* run = af_run_of(t, address >> 6);
    if (AF_UNLIKELY(run == NULL || (address & 63) + size > 64 || t->budget <= 1)) return false;
    af_join(t, run, !write, write);
    t->budget--;
    return true;
}

// An access whose instruction is counted already.
static inline void af_access_counted(af_thread* t, uintptr_t address, unsigned size, bool write) {
    const uint64_t line = address >> 6;
    const uint32_t before = t->n;
    af_line(t, line, !write, write);
    // Pointer chase: the line just opened lies where the load before it points.
    if (t->n != before && before == t->pointer_slot && address - t->pointer < 512 && before > 0)
        t->slots[before - 1].flags |= AF_FLAG_DEPENDENT;
    if (AF_UNLIKELY((address & 63) + size > 64)) af_line(t, line + 1, !write, write);
    af_spend(t);
}
AF_HIDDEN void af_access_apart(af_thread* t, uintptr_t address, unsigned size, bool write);

static inline void af_access(af_thread* t, uintptr_t address, unsigned size, bool write) {
    if (AF_UNLIKELY(!af_access_joins(t, address, size, write)))
        af_access_apart(t, address, size, write);
}

// What a load of pointer size returns, for the rule above.
static inline void af_loaded(af_thread* t, uint64_t value) {
    t->pointer = value;
    t->pointer_slot = t->n;
}

#endif
