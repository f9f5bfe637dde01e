// Which lines a thread touched last: of each line that it touched the coarse time, and that of its
// last write.
//
//   line ─► page ─► cache of pages ─► 64 words, one a line: stamp of the last touch
//                        │            64 more: stamp of the last write, or 0
//                        └─ not there ─► table of tables
//
// 8 bytes a line, for pages that the thread touched; what a snapshot had no room for is forgotten
// (snapshot.c): no cache could have held the line until then. One bit for "written" is not enough:
// what a thread wrote long ago and reads again was written back meanwhile, in caches of some sizes
// (a matrix of 72 MB took 1.6 times as long on a machine with LLCs of 5 MiB).
#pragma once

#include "capture/state/thread.h"
#include "capture/warm/pages.h"

enum {
    AF_RECENT_PAGES = 512,  // in the cache
    AF_PAGE_WORDS = 2 * AF_PAGE_LINES,
};

typedef struct af_recency {
    struct {
        uint64_t page;
        uint32_t* lines;
    } cache[AF_RECENT_PAGES];
    uint32_t*** tables;  // AF_PAGE_TABLES, each NULL or AF_PAGES_OF_TABLE, each NULL or lines
    uint32_t* used;      // numbers of the tables that are there, ascending
    uint32_t used_n, used_room;
    uint32_t* unused;  // words of pages, linked through their first two
    void* slabs;       // that words of pages are cut from, linked through their first word
    uint32_t* next;    // in the last of them
    uint32_t left;     // pages
    uint64_t pages;    // that have words
    uint32_t nowhere[AF_PAGE_WORDS];  // of pages that there is no memory for
} af_recency;

AF_HIDDEN af_recency* af_recency_new(void);  // NULL: there is no memory
AF_HIDDEN void af_recency_end(af_recency* r);
// The words of a page, made where it is new; then the stream has touched the page.
AF_HIDDEN uint32_t* af_recency_page(af_recency* r, uint64_t page, uint32_t stream);
AF_HIDDEN void af_recency_forget_page(af_recency* r, uint64_t page);
AF_HIDDEN void af_recency_forget_cached(af_recency* r);

// Returns the stamp of the touch before, 0: there was none.
static inline uint32_t af_recency_touch(af_recency* r, uint64_t line, bool written, uint32_t stamp,
                                        uint32_t stream) {
    const uint64_t page = line / AF_PAGE_LINES;
    const uint64_t at = page % AF_RECENT_PAGES;
    uint32_t* lines = r->cache[at].lines;
    if (AF_UNLIKELY(r->cache[at].page != page || lines == NULL))
        lines = af_recency_page(r, page, stream);
    const uint32_t before = lines[line % AF_PAGE_LINES];
    lines[line % AF_PAGE_LINES] = stamp;
    if (written) lines[AF_PAGE_LINES + line % AF_PAGE_LINES] = stamp;
    return before;
}
