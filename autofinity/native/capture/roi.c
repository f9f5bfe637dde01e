// The region of interest: marks in the program, its parallel part, or all of it.
#include "process.h"

void af_roi_close(af_thread* t) {
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
            af_roi_close(t);
        }
    }
}

void af_roi(bool begin, bool candidate) {
    af_thread* t = af_mine != NULL ? af_mine : af_here();
    if (t == NULL || !af_recording()) return;
    int expected = begin ? 0 : 1;
    const bool changes = atomic_compare_exchange_strong(&af.roi_open, &expected, begin);
    if (!changes && !candidate) return;
    if (begin) {
        atomic_fetch_add(&af.roi_begins, 1);
        af_event_add(t, AF_ROI_BEGIN, 0, 0);
    } else {
        af_event_add(t, AF_ROI_END, atomic_fetch_add(&af.roi_ends, 1) + 1, 0);
    }
    if (changes) roi_snapshot(begin);
}

// ROI "parallel": from the first thread or parallel region to the last join or end of one. Which
// end is the last is only known at the end, so each is a candidate (see AF_INDEX_ROI_CANDIDATES);
// the region counts as open in between.
void af_parallel_begins(void) {
    if (!af.roi_parallel) return;
    if (atomic_load(&af.roi_begins) == 0) {
        af_roi(true, false);
    } else if (!atomic_exchange(&af.roi_open, 1)) {
        // What lay between the candidate end and now belongs to the region: do not re-take the
        // marks.
        return;
    }
}

void af_parallel_ends(void) {
    if (!af.roi_parallel || !atomic_load(&af.roi_begins)) return;
    af_roi(false, true);
}

AF_API void autofinity_roi_begin(void) {
    if (af.roi_marks) af_roi(true, false);
}
AF_API void autofinity_roi_end(void) {
    if (af.roi_marks) af_roi(false, false);
}
AF_API void autofinity_heartbeat(void) {
    af_thread* t = af_here();
    if (t != NULL) af_event_add(t, AF_HEARTBEAT, 1, 0);
}
AF_API void __parsec_roi_begin(void) { autofinity_roi_begin(); }
AF_API void __parsec_roi_end(void) { autofinity_roi_end(); }
