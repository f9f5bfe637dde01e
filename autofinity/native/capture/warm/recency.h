// The lines that a thread touched last: for each touched line the coarse time of the last touch,
// and that of the last write.
//
//   line ─► page ─► cache of pages ─► 64 words, one a line: stamp of the last touch
//                        │            64 more: stamp of the last write, or 0
//                        └─ not there ─► table of tables
//
// 8 bytes a line, for pages that the thread touched; lines for which a snapshot had no room are
// forgotten (snapshot.c): no cache could have held such a line until then. One bit for "written" is
// not enough: a line that a thread wrote long ago and reads again was written back meanwhile, in
// caches of some sizes (a matrix of 72 MB took 1.6 times as long on a machine with LLCs of 5 MiB).
#pragma once

#include "capture/state/thread.h"
#include "capture/warm/pages.h"

enum {
    AF_RECENT_PAGES = 512,  // pages in the cache
    AF_PAGE_WORDS = 2 * AF_PAGE_LINES,
};

typedef struct af_recency {
    struct {
        uint64_t page;
        uint32_t* lines;
    } cache[AF_RECENT_PAGES];
    uint32_t*** tables;  // AF_PAGE_TABLES, each NULL or AF_PAGES_OF_TABLE, each NULL or lines
    uint32_t* used;      // numbers of existing tables, ascending
    uint32_t used_n, used_room;
    uint32_t* unused;                 // free words of pages, linked through their first two
    struct af_slab* slabs;            // memory for words of pages
    uint32_t* next;                   // free memory in the last of them
    uint32_t left;                    // pages for which it has room
    uint64_t pages;                   // number of pages that have words
    uint32_t nowhere[AF_PAGE_WORDS];  // words of all pages for which there is no memory
} af_recency;

AF_HIDDEN af_recency* af_recency_new(void);  // NULL: there is no memory
AF_HIDDEN void af_recency_end(af_recency* r);
// The words of a page, made at its first touch; then the stream has touched the page.
AF_HIDDEN uint32_t* af_recency_page(af_recency* r, uint64_t page, uint32_t stream);
AF_HIDDEN void af_recency_forget_page(af_recency* r, uint64_t page);
AF_HIDDEN void af_recency_forget_cached(af_recency* r);

// Records a touch. Returns the stamp of the previous touch, 0: none.
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
