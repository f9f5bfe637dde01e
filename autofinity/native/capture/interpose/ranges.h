// Whole ranges of memory that a library function or the kernel touches for the program, recorded as
// runs of 32-byte accesses, line by line, one instruction each, as the C library's code for AVX2
// makes them.
#pragma once

#include "capture/record/accesses.h"

enum { AF_RANGE_WIDTH = 32 };

// The recording thread, or NULL. Does not attach: these calls come at any time.
static inline af_thread* af_heard(void) {
    af_thread* t = af_self;
    return t != NULL && !t->busy ? t : NULL;
}

static inline void af_touch_range(af_thread* t, uintptr_t from, size_t size, bool write) {
    const uintptr_t end = from + size;
    while (from < end) {
        uintptr_t next = (from | 63) + 1;
        if (next > end) next = end;
        const unsigned count = (unsigned)((next - from + AF_RANGE_WIDTH - 1) / AF_RANGE_WIDTH);
        t->now += count;
        af_line(t, from, write ? 0 : count, write ? count : 0);
        t->budget -= (int32_t)count - 1;
        af_spend(t);
        from = next;
    }
}

static inline void af_read_range(const void* p, size_t size) {
    af_thread* t = af_heard();
    if (t != NULL && size > 0) af_touch_range(t, (uintptr_t)p, size, false);
}

static inline void af_write_range(void* p, size_t size) {
    af_thread* t = af_heard();
    if (t != NULL && size > 0) af_touch_range(t, (uintptr_t)p, size, true);
}
