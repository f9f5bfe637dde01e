// An access that reaches into a second line is one access to each of the two lines, in the trace
// and therefore in the counts of a thread's accesses.
#pragma once

#include "capture/record/accesses.h"

// Counts an access that was counted once a second time, if its `size` bytes from `address` on lie
// in two lines.
static inline void af_count_second_line(af_thread* t, uintptr_t address, unsigned size,
                                        unsigned accesses) {
    if (AF_UNLIKELY((address & 63) + size > 64)) t->budget -= (int32_t)accesses;
}

// Records an access that may lack its natural alignment.
static inline void af_access_unaligned(af_thread* t, uintptr_t address, unsigned size, bool write) {
    af_count_second_line(t, address, size, 1);
    af_access(t, address, size, write);
}
