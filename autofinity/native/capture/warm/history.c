// Intervals are short at first. When all are in use, each two are merged into one.
#include "capture/warm/history.h"

#include <sched.h>

#include "capture/state/arena.h"
#include "capture/warm/phases.h"

enum { SHORTEST = 1 << 16 };

static struct {
    atomic_flag lock;
    uint32_t used;
    _Atomic uint64_t work;  // of an interval; read without the lock, too
    af_interval* intervals;
} history = {.work = SHORTEST};

bool af_history_open(void) {
    history.intervals = af_map(AF_MAX_INTERVALS * sizeof *history.intervals);
    return history.intervals != NULL && af_phases_open();
}

static void add(af_interval* to, const af_interval* from) {
    for (int i = 0; i < AF_TOUCHES; i++) to->touches[i] += from->touches[i];
    to->writes += from->writes;
    to->instructions += from->instructions;
    to->who |= from->who;
}

static void join_pairs(void) {
    for (uint32_t i = 0; i < AF_MAX_INTERVALS / 2; i++) {
        const af_interval second = history.intervals[2 * i + 1];
        history.intervals[i] = history.intervals[2 * i];
        add(&history.intervals[i], &second);
    }
    for (uint32_t i = AF_MAX_INTERVALS / 2; i < AF_MAX_INTERVALS; i++)
        history.intervals[i] = (af_interval){0};
    history.used = (history.used + 1) / 2;
    history.work *= 2;
}

bool af_history_add(af_thread* t, uint64_t work) {
    t->did.instructions = t->now - t->did_until;
    t->did.who = 1ull << t->number % 64;
    while (atomic_flag_test_and_set_explicit(&history.lock, memory_order_acquire)) sched_yield();
    while (work / history.work >= AF_MAX_INTERVALS) join_pairs();
    const uint32_t at = (uint32_t)(work / history.work);
    bool worth = false;
    if (at >= history.used) {
        if (at > 0) worth = af_phases_note(&history.intervals[at - 1], history.work);
        history.used = at + 1;
    }
    add(&history.intervals[at], &t->did);
    atomic_flag_clear_explicit(&history.lock, memory_order_release);
    af_history_skip(t);
    return worth;
}

void af_history_skip(af_thread* t) {
    t->did = (af_interval){0};
    t->did_until = t->now;
}

uint32_t af_history_intervals(void) { return history.used; }
uint64_t af_history_interval_work(void) { return history.work; }
const af_interval* af_history_interval(uint32_t number) { return &history.intervals[number]; }
