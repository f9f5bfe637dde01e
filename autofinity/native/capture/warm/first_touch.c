#include "capture/warm/first_touch.h"

#include <errno.h>

#include "capture/state/arena.h"
#include "capture/state/failure.h"
#include "capture/warm/pages.h"

enum { SEGMENT_BITS = 16, SEGMENTS = 1 << 14 };  // of the list: 4 TiB of pages

_Static_assert(AF_MAX_STREAMS == 1u << AF_STREAM_BITS, "a stream has too few bits");

typedef struct {
    _Atomic uint64_t page;  // plus one; 0: no entry yet
    uint32_t toucher;
} touch;

// One byte in one of the tables says whether a page was touched; an entry of a list says by which
// thread.
static struct {
    _Atomic(_Atomic uint8_t*)* tables;
    _Atomic uint64_t n;
    _Atomic(touch*) list[SEGMENTS];
} touched;

bool af_first_touch_open(void) {
    touched.tables = af_map((size_t)AF_PAGE_TABLES * sizeof *touched.tables);
    return touched.tables != NULL;
}

// The memory to which `*place` points, made where there is none yet. NULL: there is no memory.
static void* made(_Atomic(void*)* place, size_t bytes) {
    void* found = atomic_load_explicit(place, memory_order_acquire);
    if (AF_LIKELY(found != NULL)) return found;
    void* const mine = af_map(bytes);
    if (mine == NULL) {
        af_fail("out of memory for the pages of a sampled capture", "", ENOMEM);
        return NULL;
    }
    if (atomic_compare_exchange_strong(place, &found, mine)) return mine;
    af_unmap(mine, bytes);
    return found;
}

void af_first_touch(uint64_t page, uint32_t toucher) {
    _Atomic uint8_t* const table =
        made((_Atomic(void*)*)&touched.tables[page >> AF_PAGE_TABLE_BITS], AF_PAGES_OF_TABLE);
    if (table == NULL) return;
    _Atomic uint8_t* const mine = &table[page & (AF_PAGES_OF_TABLE - 1)];
    if (atomic_load_explicit(mine, memory_order_relaxed) != 0 || atomic_exchange(mine, 1) != 0)
        return;
    const uint64_t number = atomic_fetch_add(&touched.n, 1);
    if (number >> SEGMENT_BITS >= SEGMENTS) {
        af_fail("more pages than a sampled capture can hold", "", E2BIG);
        return;
    }
    touch* const segment =
        made((_Atomic(void*)*)&touched.list[number >> SEGMENT_BITS], sizeof(touch) << SEGMENT_BITS);
    if (segment == NULL) return;
    touch* const entry = &segment[number & ((1u << SEGMENT_BITS) - 1)];
    entry->toucher = toucher;
    atomic_store_explicit(&entry->page, page + 1, memory_order_release);
}

uint64_t af_first_touches(void) {
    const uint64_t n = atomic_load(&touched.n), room = (uint64_t)SEGMENTS << SEGMENT_BITS;
    return n < room ? n : room;
}

bool af_first_touch_at(uint64_t number, uint64_t* page, uint32_t* toucher) {
    const touch* const segment = atomic_load(&touched.list[number >> SEGMENT_BITS]);
    if (segment == NULL) return false;
    const touch* const entry = &segment[number & ((1u << SEGMENT_BITS) - 1)];
    const uint64_t found = atomic_load_explicit(&entry->page, memory_order_acquire);
    *page = found - 1;
    *toucher = entry->toucher;
    return found != 0;
}
