// State of a sampled capture that all threads share. Between windows threads only note which lines
// they touch (warm/); in a window they record all accesses and events.
//
//   epoch     0          1         2              3         4
//             ───────────[ window 0 ]─────────────[ window 1 ]────    even: between windows
//
// A thread passes from one epoch to the next by itself, at its next look around or event
// (record/windows.c). Everything that orders threads also orders their views of the epoch, so each
// change of the epoch is a consistent cut: no event before the cut depends on one after it.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct af_sampling {
    bool on;
    uint64_t spacing;     // accesses of all threads between the begins of the first windows
    uint64_t length;      // of a window, in accesses of all threads
    uint64_t seed;        // of the windows' places
    uint64_t ahead;       // accesses a thread may be ahead of another in a window
    uint64_t most_lines;  // of a snapshot of the open window

    _Atomic uint64_t epoch;
    _Atomic uint64_t clock;  // coarse: the number of looks around of all threads
    _Atomic bool inside;     // whether the region of interest runs
    _Atomic uint64_t work;   // accesses of all threads in the region
    _Atomic uint64_t next;   // work at which the epoch changes
    _Atomic uint64_t calm;   // work from which threads keep side by side for the next window
    _Atomic uint64_t met;    // meetings (threads/meetings.c)
    _Atomic uint32_t alive;  // number of threads
} af_sampling;

// Most accesses a thread may be ahead of another now. A window is to show threads side by side.
static inline uint64_t af_sampled_ahead(const af_sampling* s, uint64_t ahead) {
    if (!s->on || ahead < s->ahead) return ahead;
    const bool calm = atomic_load_explicit(&s->inside, memory_order_relaxed) &&
                      atomic_load_explicit(&s->work, memory_order_relaxed) >=
                          atomic_load_explicit(&s->calm, memory_order_relaxed);
    return calm ? s->ahead : ahead;
}
