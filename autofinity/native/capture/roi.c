// The region of interest: marks in the program, its parallel part, or all of it.
#include "process.h"

// Adds up what the open region held so far.
static void close_roi(af_thread* t) {
    t->roi_accesses += af_accesses_of(t) - t->roi_from_accesses;
    t->roi_instructions += t->now - t->roi_from_instructions;
    t->roi_from_accesses = af_accesses_of(t);
    t->roi_from_instructions = t->now;
}

static void roi_snapshot(bool begin) {
    for (uint32_t i = 0; i < atomic_load(&af.streams); i++) {
        af_thread* t = af.threads[i];
        if (t == NULL || atomic_load(&t->state) != 1) continue;
        if (begin) {
            t->roi_from_accesses = af_accesses_of(t);
            t->roi_from_instructions = t->now;
        } else {
            close_roi(t);
        }
    }
}

static void roi_begin(void) {
    af_thread* t = af_mine != NULL ? af_mine : af_here();
    int closed = 0;
    if (t == NULL || !af_recording() || !atomic_compare_exchange_strong(&af.roi_open, &closed, 1))
        return;
    atomic_fetch_add(&af.roi_begins, 1);
    af_event_add(t, AF_ROI_BEGIN, 0, 0);
    roi_snapshot(true);
}

static void add_end(af_thread* t) {
    af_event_add(t, AF_ROI_END, atomic_fetch_add(&af.roi_ends, 1) + 1, 0);
}

static void roi_end(void) {
    af_thread* t = af_mine != NULL ? af_mine : af_here();
    int open = 1;
    if (t == NULL || !af_recording() || !atomic_compare_exchange_strong(&af.roi_open, &open, 0))
        return;
    add_end(t);
    roi_snapshot(false);
}

// ROI "parallel": from the first thread or parallel region to the last join or end of one. Which
// end is the last is only known at the end, so each is a candidate (see AF_INDEX_ROI_CANDIDATES),
// with the sums up to there; the region stays open.
void af_parallel_begins(void) {
    if (af.roi_parallel && atomic_load(&af.roi_begins) == 0) roi_begin();
}

void af_parallel_ends(void) {
    af_thread* t = af_mine;
    if (t == NULL || !af_recording() || !af.roi_parallel || !atomic_load(&af.roi_open)) return;
    add_end(t);
    roi_snapshot(false);
}

void af_whole_begins(void) { roi_begin(); }

// What a thread did after the last candidate lies outside, unless it ended before the program did.
void af_roi_settle(af_thread* t) {
    if (!atomic_load(&af.roi_open)) return;
    const bool after = atomic_load(&af_shared->finishing) && atomic_load(&af.roi_ends) > 0;
    if (!af.roi_parallel || !after) close_roi(t);
}

void af_roi_finish(af_thread* t) {
    if (atomic_load(&af.roi_open) && !af.roi_parallel) add_end(t);
}

AF_API void autofinity_roi_begin(void) {
    if (af.roi_marks) roi_begin();
}
AF_API void autofinity_roi_end(void) {
    if (af.roi_marks) roi_end();
}
AF_API void autofinity_heartbeat(void) {
    af_thread* t = af_here();
    if (t != NULL) af_event_add(t, AF_HEARTBEAT, 1, 0);
}
AF_API void __parsec_roi_begin(void) { autofinity_roi_begin(); }
AF_API void __parsec_roi_end(void) { autofinity_roi_end(); }
