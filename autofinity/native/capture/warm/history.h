// The work of all threads over the region, interval by interval: the time since the previous touch
// of each touched line, the number of writes, the number of instructions. It shows which windows a
// stretch of the run resembles, and depends on no machine.
#pragma once

#include "capture/state/thread.h"

// Notes a touch of a line by the time since the previous touch; `before`: the stamp of that touch,
// 0: none.
static inline void af_history_touch(af_thread* t, uint32_t before, bool written) {
    const uint32_t pause = t->stamp - before;
    const uint32_t kind = before == 0  ? AF_TOUCHES - 1
                          : pause == 0 ? 0
                                       : 32u - (uint32_t)__builtin_clz(pause);
    t->did.touches[kind < AF_TOUCHES ? kind : AF_TOUCHES - 1]++;
    t->did.writes += written;
}

// Makes room. The room is not in the library itself: the address of a library of 2 MiB and more
// varies, and with it the addresses that the program maps (process/addresses.c). False: there is no
// memory.
AF_HIDDEN bool af_history_open(void);

// Adds the thread's work since the last call, at so much work of the region. Returns whether a
// window is worth while now (warm/phases.h).
AF_HIDDEN bool af_history_add(af_thread* t, uint64_t work);
// Leaves out the thread's work since the last call: it lies outside of the region.
AF_HIDDEN void af_history_skip(af_thread* t);

AF_HIDDEN uint32_t af_history_intervals(void);
AF_HIDDEN uint64_t af_history_interval_work(void);
AF_HIDDEN const af_interval* af_history_interval(uint32_t number);
