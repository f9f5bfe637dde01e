// Counts accesses of each thread, as a capture does, and the lines of 64 bytes that they touch in
// the region of interest.
//
// Traffic out of a core is estimated by a cache of 1 MiB for each thread, 16 ways, least recently
// used out: as the private caches of an EPYC 9654 and near those of a Xeon 8480.
//
// Each thread has a tally of its own with a bit for every line of the address space, in leaves of
// 1 GiB that are mapped when they are first touched. Tallies outlive their threads.
#ifndef COUNTED_TALLY_H
#define COUNTED_TALLY_H

// Code of the program comes here with vector registers in use.
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("general-regs-only")
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "region.h"

#define API __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

enum {
    LINE_BITS = 6,
    LEAF_BITS = 30,
    LEAVES = 1 << (47 - LEAF_BITS),
    WORDS = 1 << (LEAF_BITS - LINE_BITS - 6),
    SETS = 1024,
    WAYS = 16,
};

typedef struct tally {
    struct tally* next;
    uint64_t inside, outside, fetched, last_line;
    uint64_t* leaf[LEAVES];
    uint64_t cached[SETS][WAYS];  // numbers of lines, the latest first; 0: an empty way
} tally;

extern HIDDEN tally* tallies;
extern HIDDEN __thread tally* own __attribute__((tls_model("initial-exec")));

HIDDEN tally* make_tally(void);
// In the region of interest: the line, and what the thread's cache does with it.
HIDDEN void mark_line(tally* t, uint64_t line);

static inline tally* mine(void) { return __builtin_expect(own != NULL, 1) ? own : make_tally(); }

// So many accesses to the line of an address.
static inline void count_line(tally* t, uintptr_t address, unsigned accesses) {
    if (!counted_in_region) {
        t->outside += accesses;
        return;
    }
    t->inside += accesses;
    const uint64_t line = address >> LINE_BITS;
    if (line != t->last_line) mark_line(t, line);
}

// As many accesses of `size` bytes: one that reaches into a second line is one to either.
static inline void count(uintptr_t address, unsigned size, unsigned accesses) {
    tally* const t = mine();
    count_line(t, address, accesses);
    if (__builtin_expect((address & 63) + size > 64, 0))
        count_line(t, (address | 63) + 1, accesses);
}

static inline void touch(const volatile void* p, unsigned size) { count((uintptr_t)p, size, 1); }

// Line by line, as accesses of `width` bytes.
static inline void touch_range(const void* p, size_t size, unsigned width) {
    tally* const t = mine();
    for (uintptr_t at = (uintptr_t)p, end = at + size; at < end;) {
        const uintptr_t line_end = (at | 63) + 1, to = line_end < end ? line_end : end;
        count_line(t, at, (unsigned)((to - at + width - 1) / width));
        at = to;
    }
}

// Widths as a capture has them: of structures, and of what libraries copy.
enum { WORD = 8, COPY = 32 };

#endif
