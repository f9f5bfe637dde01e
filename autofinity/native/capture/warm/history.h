// What all threads did over the work of the region, interval by interval: how long ago they had
// touched each line before, how often they wrote, how many instructions that took. It tells which
// windows a stretch of the run is like; no machine is in it.
#pragma once

#include "capture/state/thread.h"

// Notes a touch of a line by its pause since the last one; `before`: the stamp then, 0: never.
static inline void af_history_touch(af_thread* t, uint32_t before, bool written) {
    const uint32_t pause = t->stamp - before;
    const uint32_t kind = before == 0  ? AF_TOUCHES - 1
                          : pause == 0 ? 0
                                       : 32u - (uint32_t)__builtin_clz(pause);
    t->did.touches[kind < AF_TOUCHES ? kind : AF_TOUCHES - 1]++;
    t->did.writes += written;
}

// Makes room. Not in the library itself: one of 2 MiB and more lies where it likes, and with it
// what the program maps (process/addresses.c). False: there is no memory.
AF_HIDDEN bool af_history_open(void);

// Books what the thread did since the last time at so much work of the region. Whether a window is
// worth while now (warm/phases.h).
AF_HIDDEN bool af_history_add(af_thread* t, uint64_t work);
// What it did since then lies outside of the region.
AF_HIDDEN void af_history_skip(af_thread* t);

AF_HIDDEN uint32_t af_history_intervals(void);
AF_HIDDEN uint64_t af_history_interval_work(void);
AF_HIDDEN const af_interval* af_history_interval(uint32_t number);
