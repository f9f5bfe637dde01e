#include "capture/record/cuts.h"

#include <sched.h>
#include <stdlib.h>

#include "capture/state/arena.h"
#include "capture/state/common.h"
#include "capture/warm/history.h"
#include "capture/warm/phases.h"

enum {
    FIRST_WINDOWS = 32,  // at the first spacing
    MORE_WINDOWS = 16,   // at each later spacing
    LEAD_SHARE = 16,     // share of the spacing before the first window
    SIDE_BY_SIDE = 8192,
    SHORTEST = 1 << 12,
};
// Most lines in snapshots: of all threads together, and the least and the most for one thread.
enum { ALL_LINES = 8 << 20, LEAST_LINES = 64 << 10, MOST_LINES = 1 << 20 };

static struct {
    atomic_flag lock;
    uint64_t part, part_work;  // begin and length of the part in which the next window lies
    uint64_t planned;          // work at which that window is to open
    uint64_t planned_n;        // number of windows up to that window, without those for phases
    af_window* windows;
} cuts;

static bool number(const char** text, char end, uint64_t* value) {
    char* rest;
    if (**text < '0' || **text > '9') return false;
    *value = strtoull(*text, &rest, 10);
    if (*rest != end) return false;
    *text = rest + 1;
    return true;
}

bool af_cuts_ask(const char* wanted) {
    af_sampling* const s = &af_shared->sampling;
    if (!number(&wanted, ',', &s->spacing) || !number(&wanted, ',', &s->length) ||
        !number(&wanted, 0, &s->seed))
        return false;
    if (s->length < SHORTEST || s->spacing < 2 * s->length) return false;
    s->ahead = SIDE_BY_SIDE;
    cuts.part_work = s->spacing;
    cuts.planned = s->spacing / LEAD_SHARE;
    cuts.planned_n = 1;
    atomic_store(&s->next, cuts.planned);
    atomic_store(&s->calm, 0);
    cuts.windows = af_map(AF_MAX_WINDOWS * sizeof *cuts.windows);
    s->on = cuts.windows != NULL;
    return true;
}

static uint64_t hash(uint64_t a, uint64_t b) {  // the finaliser of MurmurHash3
    uint64_t h = a * 0x9e3779b97f4a7c15ull + b;
    h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
    h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
    return h ^ h >> 33;
}

static void lock(void) {
    while (atomic_flag_test_and_set_explicit(&cuts.lock, memory_order_acquire)) sched_yield();
}
static void unlock(void) { atomic_flag_clear_explicit(&cuts.lock, memory_order_release); }

static void open_window(af_sampling* s, uint64_t epoch, uint64_t work) {
    const uint64_t alive = atomic_load(&s->alive), share = ALL_LINES / (alive > 0 ? alive : 1);
    s->most_lines = share > MOST_LINES ? MOST_LINES : share < LEAST_LINES ? LEAST_LINES : share;
    cuts.windows[epoch >> 1] = (af_window){
        .work_begin = work, .met_begin = atomic_load(&s->met), .stamp = atomic_load(&s->clock)};
    atomic_store(&s->next, work + s->length);
    af_phases_window();
    atomic_store_explicit(&s->epoch, epoch + 1, memory_order_release);
}

// Chooses the place of the next window in its part of the work.
static void plan_next(const af_sampling* s) {
    const uint64_t window = cuts.planned_n++;
    cuts.part += cuts.part_work;
    if (window >= FIRST_WINDOWS && (window - FIRST_WINDOWS) % MORE_WINDOWS == 0)
        cuts.part_work *= 2;
    cuts.planned = cuts.part + hash(s->seed, window) % (cuts.part_work - s->length);
}

// Threads come side by side before a window opens.
static uint64_t lead(const af_sampling* s) { return atomic_load(&s->alive) * af_shared->ahead / 2; }

static void open_next_at(af_sampling* s, uint64_t next, uint64_t work, uint64_t before) {
    atomic_store(&s->calm, next - work > before ? next - before : work);
    atomic_store(&s->next, next);
}

static void close_window(af_sampling* s, uint64_t epoch, uint64_t work) {
    af_window* const w = &cuts.windows[epoch >> 1];
    w->work_end = work;
    w->met_end = atomic_load(&s->met);
    if (cuts.planned <= w->work_begin) plan_next(s);
    const uint64_t earliest = work + s->length;
    uint64_t next = cuts.planned < earliest ? earliest : cuts.planned;
    if ((epoch >> 1) + 1 == AF_MAX_WINDOWS) next = UINT64_MAX;
    open_next_at(s, next, work, 4 * lead(s));
    atomic_store_explicit(&s->epoch, epoch + 1, memory_order_release);
}

// Opens a window soon, because the current phase has few. The planned window is kept.
static void open_soon(af_sampling* s) {
    lock();
    const uint64_t epoch = atomic_load(&s->epoch), work = atomic_load(&s->work);
    const uint64_t soon = work + lead(s);
    if (!(epoch & 1) && soon < atomic_load(&s->next)) {
        open_next_at(s, soon, work, UINT64_MAX);
        af_phases_planned();
    }
    unlock();
}

static void cut(af_sampling* s) {
    lock();
    const uint64_t epoch = atomic_load(&s->epoch), work = atomic_load(&s->work);
    if (atomic_load(&s->inside) && work >= atomic_load(&s->next)) {
        if (epoch & 1)
            close_window(s, epoch, work);
        else
            open_window(s, epoch, work);
    }
    unlock();
}

void af_cuts_region(bool inside) {
    af_sampling* const s = &af_shared->sampling;
    if (!s->on) return;
    lock();
    atomic_store(&s->inside, inside);
    const uint64_t epoch = atomic_load(&s->epoch);
    if (!inside && (epoch & 1)) close_window(s, epoch, atomic_load(&s->work));
    unlock();
}

void af_cuts_count(af_thread* t) {
    af_sampling* const s = &af_shared->sampling;
    if (!s->on) return;
    const uint64_t now = af_accesses_of(t), before = t->counted;
    if (now <= before) return;
    t->counted = now;
    if (!atomic_load_explicit(&s->inside, memory_order_relaxed)) {
        af_history_skip(t);
        return;
    }
    const uint64_t work =
        atomic_fetch_add_explicit(&s->work, now - before, memory_order_relaxed) + (now - before);
    t->got_to = work;
    if (af_history_add(t, work)) open_soon(s);
    if (work >= atomic_load_explicit(&s->next, memory_order_relaxed)) cut(s);
}

void af_cuts_count_from_now(af_thread* t) { t->counted = af_accesses_of(t); }

uint32_t af_cuts_windows(void) {
    const uint64_t epoch = atomic_load(&af_shared->sampling.epoch);
    return (uint32_t)((epoch + 1) >> 1);
}

af_window af_cuts_window(uint32_t number) { return cuts.windows[number]; }
