// Fair capture: no runnable thread gets more than `ahead` accesses ahead of the slowest runnable
// one. Without it two cores give the threads of a dynamic loop 20,000 to 94,000 iterations of
// 50,000 each, or none at all, because the host runs one thread for a whole time slice.
//
// Threads that wait in a known call do not count. The state of a thread that does not move although
// it should is read from /proc: if the thread wants to run, the host is busy; if it has slept for
// AF_PATIENCE_US, it waits for something that is not recorded, and no longer counts. So a lock that
// is held across the limit causes delays but never a deadlock.
#include "capture/pace/fair.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/state/common.h"
#include "capture/state/text.h"

enum {
    AF_PATIENCE_US = 20000,
    AF_SHORTEST_NAP_US = 100,
    AF_BRIEF_NAP_US = 400,     // in which a thread makes fewer accesses than it may be ahead
    AF_LONGEST_NAP_US = 1600,  // longest nap, while the awaited thread makes no progress
    AF_LOOK_UP_AFTER_US = 1000,
    AF_AT_MOST_US = 5000000,
};

void af_sleep(unsigned microseconds) {
    struct timespec t = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
    syscall(SYS_nanosleep, &t, NULL);
}

static bool counts(af_thread* t) {
    if (atomic_load_explicit(&t->stalled, memory_order_relaxed) != 0) return false;
    if (atomic_load_explicit(&t->blocked, memory_order_relaxed) == 0) return true;
    _Atomic uint64_t* gate = atomic_load_explicit(&t->gate, memory_order_acquire);
    if (gate != NULL && atomic_load_explicit(gate, memory_order_relaxed) >= t->gate_need)
        return true;
    _Atomic int64_t* work = atomic_load_explicit(&t->work, memory_order_acquire);
    return work != NULL && atomic_load_explicit(work, memory_order_relaxed) > 0;
}

static af_thread* slowest(const af_thread* but) {
    af_thread* found = NULL;
    uint64_t least = UINT64_MAX;
    const int top = atomic_load_explicit(&af_shared->fair.top, memory_order_acquire);
    for (int i = 0; i < top; i++) {
        af_thread* t = atomic_load_explicit(&af_shared->fair.seats[i], memory_order_acquire);
        if (t == NULL || t == but || !counts(t)) continue;
        const uint64_t progress = atomic_load_explicit(&t->progress, memory_order_relaxed);
        if (progress < least) {
            least = progress;
            found = t;
        }
    }
    return found;
}

// A thread that was away must not make the others wait for the progress that it has missed.
static void catch_up(af_thread* t) {
    const af_thread* other = slowest(t);
    if (other == NULL) return;
    const uint64_t least = atomic_load_explicit(&other->progress, memory_order_relaxed);
    if (atomic_load_explicit(&t->progress, memory_order_relaxed) < least)
        atomic_store_explicit(&t->progress, least, memory_order_relaxed);
}

void af_fair_enter(af_thread* t) {
    while (atomic_flag_test_and_set_explicit(&af_shared->fair.lock, memory_order_acquire))
        sched_yield();
    for (int i = 0; i < AF_SEATS && t->seat < 0; i++) {
        if (atomic_load(&af_shared->fair.seats[i]) != NULL) continue;
        t->seat = i;
        if (i >= atomic_load(&af_shared->fair.top)) atomic_store(&af_shared->fair.top, i + 1);
        catch_up(t);
        atomic_store_explicit(&af_shared->fair.seats[i], t, memory_order_release);
    }
    atomic_flag_clear_explicit(&af_shared->fair.lock, memory_order_release);
}

void af_fair_leave(af_thread* t) {
    if (t->seat >= 0)
        atomic_store_explicit(&af_shared->fair.seats[t->seat], NULL, memory_order_release);
    t->seat = -1;
}

static uint64_t least_progress(const af_thread* but) {
    const af_thread* other = slowest(but);
    return other == NULL ? UINT64_MAX
                         : atomic_load_explicit(&other->progress, memory_order_relaxed);
}

void af_block(af_thread* t) {
    if (atomic_load_explicit(&t->blocked, memory_order_relaxed) == 0)
        t->least_then = least_progress(t);
    atomic_fetch_add_explicit(&t->blocked, 1, memory_order_relaxed);
}

// A barrier's last arrival releases all threads at once, and runs on while the others are still
// waking up: because of the gate, these count from the moment of the arrival.
void af_block_at(af_thread* t, _Atomic uint64_t* gate, uint64_t need) {
    t->gate_need = need;
    atomic_store_explicit(&t->gate, gate, memory_order_release);
    af_block(t);
}

// While the thread waited, its progress advanced at the pace of the slowest other thread: the
// others need not wait for the progress that it missed, and a lag is not forgiven because of a
// short wait.
void af_unblock(af_thread* t) {
    if (atomic_load_explicit(&t->blocked, memory_order_relaxed) == 1) {
        atomic_store_explicit(&t->gate, NULL, memory_order_relaxed);
        atomic_store_explicit(&t->work, NULL, memory_order_relaxed);
        const uint64_t now = least_progress(t), then = t->least_then;
        const uint64_t mine = atomic_load_explicit(&t->progress, memory_order_relaxed);
        if (now != UINT64_MAX && mine < now && (then == UINT64_MAX || now > then)) {
            const uint64_t moved = then == UINT64_MAX ? now : mine + (now - then);
            atomic_store_explicit(&t->progress, moved < now ? moved : now, memory_order_relaxed);
        }
    }
    // The thread's next event comes after a wait for another thread: a window that ended meanwhile
    // ends there.
    t->woke |= t->epoch != atomic_load_explicit(&af_shared->sampling.epoch, memory_order_relaxed);
    atomic_fetch_sub_explicit(&t->blocked, 1, memory_order_relaxed);
}

// Whether the thread runs or wants to run, by the kernel.
static bool wants_to_run(const af_thread* t) {
    const int tid = atomic_load_explicit(&t->tid, memory_order_relaxed);
    if (tid == 0) return true;  // it is being created
    char text[64];              // the path, then what is read
    char* const at = af_put_number(af_put_text(text, "/proc/self/task/"), (unsigned)tid, 1);
    af_put_text(at, "/stat");
    const long fd = syscall(SYS_openat, AT_FDCWD, text, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) return false;
    long n = syscall(SYS_read, fd, text, sizeof text);
    syscall(SYS_close, fd);
    // "tid (name) S …": the name may hold anything.
    while (n > 0 && text[n - 1] != ')') n--;
    return n > 0 && text[n + 1] == 'R';
}

// A thread that is too far ahead waits until it is ahead by half of the limit: otherwise it would
// wait again at the next look around, and a sleep takes as long as hundreds of accesses.
static void wait_for_slowest(const af_thread* t, uint64_t mine) {
    const uint64_t most = af_sampled_ahead(&af_shared->sampling, af_shared->ahead);
    uint64_t allowed = most;
    unsigned asleep_us = 0, waited_us = 0, nap_us = AF_SHORTEST_NAP_US;
    const af_thread* watched = NULL;
    uint64_t seen = 0;
    for (;;) {
        af_thread* other = slowest(t);
        if (other == NULL) return;
        const uint64_t least = atomic_load_explicit(&other->progress, memory_order_relaxed);
        if (mine <= least + allowed) return;
        allowed = most / 2;
        if (other != watched || least != seen) {
            watched = other;
            seen = least;
            asleep_us = waited_us = 0;
            if (nap_us > AF_BRIEF_NAP_US) nap_us = AF_BRIEF_NAP_US;
        } else if (asleep_us >= AF_PATIENCE_US || waited_us > AF_AT_MOST_US) {
            atomic_store_explicit(&other->stalled, 1, memory_order_relaxed);
            continue;
        }
        af_sleep(nap_us);
        waited_us += nap_us;
        if (waited_us < AF_LOOK_UP_AFTER_US || !wants_to_run(other)) asleep_us += nap_us;
        if (nap_us < AF_LONGEST_NAP_US) nap_us *= 2;
    }
}

void af_fair_check(af_thread* t) {
    if (atomic_exchange_explicit(&t->stalled, 0, memory_order_relaxed)) catch_up(t);
    const uint64_t mine =
        atomic_fetch_add_explicit(&t->progress, AF_PERIOD, memory_order_relaxed) + AF_PERIOD;
    if (af_shared->ahead != 0) wait_for_slowest(t, mine);
}
