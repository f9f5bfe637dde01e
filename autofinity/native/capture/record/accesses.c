#include "capture/record/accesses.h"

#include "capture/pace/fair.h"
#include "capture/pace/polling.h"
#include "capture/record/windows.h"
#include "capture/state/common.h"

void af_accesses_apart(af_thread* t, uintptr_t address, unsigned size, unsigned reads,
                       unsigned writes) {
    const uint32_t counts = af_slot_counts(reads, writes);
    t->now += (uint64_t)t->cost * (reads + writes);
    af_open_line* const o = af_open_at(t, address);
    af_slot* const run = af_lies_in(o, address, 1) ? o->slot : NULL;
    if (run != NULL && af_is_open(t->closed, run, af_span_of(run, t->now))) {
        af_join(run, af_span_of(run, t->now), counts);
    } else {
        af_make_room(t);
        const uint64_t pointer = t->pointer;
        af_note_chase(t, af_open_run(t, o, t->now, address, counts), address, pointer);
    }
    if (AF_UNLIKELY((address & 63) + size > 64)) af_line(t, address + size - 1, reads, writes);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

// Counts of a run have 16 bits, and until the next look around there may be AF_PERIOD more.
static void close_long_runs(af_thread* t) {
    for (int i = 0; i < AF_OPEN; i++) {
        af_open_line* const o = &t->open[i];
        if (o->base != AF_NO_LINE && o->slot->reads + o->slot->writes >= AF_LONG_RUN)
            o->base = AF_NO_LINE;
    }
}

void af_look_around(af_thread* t) {
    t->accesses += (uint64_t)(AF_PERIOD - t->budget);
    t->budget = AF_PERIOD;
    if (t->busy) return;
    close_long_runs(t);
    if (AF_UNLIKELY(atomic_load(&af_shared->finishing))) {
        // The program ends in another thread; this thread's next events would never end.
        atomic_store(&t->life, AF_LIFE_STOPPED);
        *t->self = NULL;
        return;
    }
    if (t->polls > 0) af_stop_polling(t);  // the loop ended for another reason than its value
    if (AF_UNLIKELY(t->recency != NULL)) af_windows_tick(t);
    af_fair_check(t);
}
