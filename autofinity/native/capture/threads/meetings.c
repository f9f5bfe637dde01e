#include "capture/threads/meetings.h"

#include <sched.h>

#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/threads/registry.h"

typedef struct {
    uint64_t work, met;
    uint64_t* instructions;
    uint32_t threads, room;
} kept;

static struct {
    atomic_flag lock;
    unsigned largest;  // size of the largest team
    uint64_t apart;    // work between two that are kept
    bool begun, ended;
    uint32_t n;  // the begin included
    kept kept[AF_MAX_MEETINGS - 1];
    kept end;
} meetings;

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&meetings.lock, memory_order_acquire)) sched_yield();
}
static void unlock(void) { atomic_flag_clear_explicit(&meetings.lock, memory_order_release); }

static void note(kept* m) {
    const uint32_t threads = af_registry_size();
    m->work = atomic_load(&af_shared->sampling.work);
    m->met = atomic_load(&af_shared->sampling.met);
    if (m->room < threads) {
        m->room = threads + threads / 2;
        m->instructions = af_alloc(m->room * sizeof *m->instructions);
    }
    m->threads = threads;
    for (uint32_t i = 0; i < threads; i++) {
        const af_thread* t = af_registry_at(i);
        m->instructions[i] = t != NULL ? t->now : 0;
    }
}

// Removes every other meeting, or more where they came in crowds.
static void thin_out(void) {
    const uint64_t work = meetings.kept[meetings.n - 1].work - meetings.kept[0].work;
    const uint64_t least = 2 * work / (AF_MAX_MEETINGS - 1) + 1;
    meetings.apart = 2 * meetings.apart > least ? 2 * meetings.apart : least;
    uint32_t n = 1;
    for (uint32_t i = 1; i < meetings.n; i++) {
        if (meetings.kept[i].work - meetings.kept[n - 1].work < meetings.apart) continue;
        const kept goes = meetings.kept[n];  // its memory is reused
        meetings.kept[n++] = meetings.kept[i];
        if (n - 1 != i) meetings.kept[i] = goes;
    }
    meetings.n = n;
}

void af_meetings_begin(void) {
    if (!af_shared->sampling.on) return;
    lock();
    if (!meetings.begun) note(&meetings.kept[meetings.n++]);
    meetings.begun = true;
    unlock();
}

void af_meetings_end(void) {
    if (!af_shared->sampling.on) return;
    lock();
    if (meetings.begun) note(&meetings.end);
    meetings.ended = meetings.begun;
    unlock();
}

void af_meeting(unsigned threads) {
    af_sampling* const s = &af_shared->sampling;
    if (!s->on || !atomic_load_explicit(&s->inside, memory_order_relaxed)) return;
    lock();
    if (threads >= meetings.largest && threads > 1 && meetings.begun) {
        meetings.largest = threads;
        atomic_fetch_add(&s->met, 1);
        const uint64_t before = meetings.kept[meetings.n - 1].work;
        if (atomic_load(&s->work) - before >= meetings.apart) {
            if (meetings.n == AF_MAX_MEETINGS - 1) thin_out();
            note(&meetings.kept[meetings.n++]);
        }
    }
    unlock();
}

uint32_t af_meetings_kept(void) { return meetings.n + (meetings.ended ? 1 : 0); }

af_met af_meetings_at(uint32_t number) {
    const kept* const m = number < meetings.n ? &meetings.kept[number] : &meetings.end;
    return (af_met){m->work, m->met, m->instructions, m->threads};
}
