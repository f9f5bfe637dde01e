#include "capture/threads/roi.h"

#include "capture/record/cuts.h"
#include "capture/record/slots.h"
#include "capture/state/common.h"
#include "capture/threads/meetings.h"
#include "capture/threads/registry.h"

static struct {
    af_roi_kind kind;
    _Atomic int open;
    _Atomic uint64_t begins, ends;
} roi;

void af_roi_choose(af_roi_kind kind) { roi.kind = kind; }

af_roi_kind af_roi_chosen(void) { return roi.kind; }

uint64_t af_roi_count(void) { return atomic_load(&roi.begins); }

static void open_roi(af_thread* t) {
    t->roi_from_accesses = af_accesses_of(t);
    t->roi_from_instructions = t->now;
    af_cuts_count_from_now(t);
}

// Adds up the counts of the open region so far.
static void close_roi(af_thread* t) {
    t->roi_accesses += af_accesses_of(t) - t->roi_from_accesses;
    t->roi_instructions += t->now - t->roi_from_instructions;
    af_cuts_count(t);
    open_roi(t);
}

static void for_all_that_run(void (*change)(af_thread*)) {
    for (uint32_t i = 0; i < af_registry_size(); i++) {
        af_thread* t = af_registry_at(i);
        if (t != NULL && atomic_load(&t->life) == AF_LIFE_RUNS) change(t);
    }
}

void af_roi_begin(af_thread* t) {
    int closed = 0;
    if (!af_recording() || !atomic_compare_exchange_strong(&roi.open, &closed, 1)) return;
    atomic_fetch_add(&roi.begins, 1);
    af_event_add(t, AF_ROI_BEGIN, 0, 0);
    for_all_that_run(open_roi);
    af_meetings_begin();
    af_cuts_region(true);
}

static void add_end(af_thread* t) {
    af_event_add(t, AF_ROI_END, atomic_fetch_add(&roi.ends, 1) + 1, 0);
}

void af_roi_end(af_thread* t) {
    int open = 1;
    if (!af_recording() || !atomic_compare_exchange_strong(&roi.open, &open, 0)) return;
    add_end(t);
    for_all_that_run(close_roi);
    af_meetings_end();
    af_cuts_region(false);
}

void af_parallel_begins(af_thread* t) {
    if (roi.kind == AF_ROI_PARALLEL && atomic_load(&roi.begins) == 0) af_roi_begin(t);
}

// From the first thread or parallel region to the last join or end of one. Which end is the last is
// only known at the end, so each is a candidate (see AF_INDEX_ROI_CANDIDATES), with the sums up to
// there; the region stays open.
void af_parallel_ends(af_thread* t) {
    if (!af_recording() || roi.kind != AF_ROI_PARALLEL || !atomic_load(&roi.open)) return;
    add_end(t);
    for_all_that_run(close_roi);
    af_meetings_end();
}

void af_roi_enter(af_thread* t) {
    if (!atomic_load(&roi.open)) return;
    t->roi_from_accesses = 0;
    t->roi_from_instructions = 0;
}

// The work of a thread after the last candidate lies outside, unless the thread ended before the
// program.
void af_roi_settle(af_thread* t) {
    if (!atomic_load(&roi.open)) return;
    const bool after = atomic_load(&af_shared->finishing) && atomic_load(&roi.ends) > 0;
    if (roi.kind != AF_ROI_PARALLEL || !after) close_roi(t);
}

// Whether threads that were never joined have worked more since the last candidate than all threads
// in the region before: a pool, beside which the program once joined another thread.
static bool most_work_came_later(const af_thread* me) {
    uint64_t before = 0, later = 0;
    for (uint32_t i = 0; i < af_registry_size(); i++) {
        af_thread* t = af_registry_at(i);
        if (t == NULL) continue;
        before += t->roi_accesses;
        if (t != me && atomic_load(&t->life) == AF_LIFE_RUNS)
            later += af_accesses_of(t) - t->roi_from_accesses;
    }
    return later > before;
}

void af_roi_finish(af_thread* t) {
    if (!atomic_load(&roi.open)) return;
    if (roi.kind != AF_ROI_PARALLEL)
        add_end(t);
    else if (atomic_load(&roi.ends) > 0 && most_work_came_later(t))
        af_parallel_ends(t);
}

// A pool whose threads are never joined has no candidate: its region ends with the program.
void af_roi_sum_up(void) {
    const bool ended = roi.kind == AF_ROI_PARALLEL && atomic_load(&roi.ends) > 0;
    if (atomic_load(&roi.open) && !ended) af_meetings_end();
}
