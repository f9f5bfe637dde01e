#include "tally.h"

#include <stdlib.h>
#include <sys/mman.h>

tally* tallies;
__thread tally* own __attribute__((tls_model("initial-exec")));

static void* fresh_pages(size_t bytes) {
    void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) abort();
    return pages;
}

tally* make_tally(void) {
    tally* const made = fresh_pages(sizeof(tally));
    made->next = __atomic_load_n(&tallies, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&tallies, &made->next, made, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return own = made;
}

// Lines of large arrays spread over the sets as physical pages do: by a hash of the page's number.
static inline uint64_t* set_of(tally* t, uint64_t line) {
    const uint64_t page = line >> 6;
    return t->cached[(line + (page * 0x9e3779b97f4a7c15ull >> 54) * 64) & (SETS - 1)];
}

static void look_up(tally* t, uint64_t line) {
    uint64_t* const set = set_of(t, line);
    uint64_t moved = set[0];
    if (moved == line) return;
    set[0] = line;
    for (int way = 1; way < WAYS; way++) {
        const uint64_t here = set[way];
        set[way] = moved;
        if (here == line) return;
        moved = here;
    }
    t->fetched++;
}

void mark_line(tally* t, uint64_t line) {
    t->last_line = line;
    look_up(t, line);
    uint64_t** const leaf = &t->leaf[line >> (LEAF_BITS - LINE_BITS) & (LEAVES - 1)];
    if (__builtin_expect(*leaf == NULL, 0)) *leaf = fresh_pages(WORDS * sizeof(uint64_t));
    (*leaf)[line >> 6 & (WORDS - 1)] |= 1ull << (line & 63);
}

static uint64_t lines_of(const uint64_t* leaf) {
    uint64_t lines = 0;
    for (size_t w = 0; w < WORDS; w++) lines += (uint64_t)__builtin_popcountll(leaf[w]);
    return lines;
}

// Lines of a leaf that any thread touched.
static uint64_t lines_of_all(size_t leaf) {
    uint64_t lines = 0;
    for (size_t w = 0; w < WORDS; w++) {
        uint64_t any = 0;
        for (const tally* t = tallies; t != NULL; t = t->next)
            if (t->leaf[leaf] != NULL) any |= t->leaf[leaf][w];
        lines += (uint64_t)__builtin_popcountll(any);
    }
    return lines;
}

void counted_report(FILE* to) {
    uint64_t inside = 0, outside = 0, fetched = 0, most = 0, all = 0;
    for (const tally* t = tallies; t != NULL; t = t->next) {
        uint64_t lines = 0;
        inside += t->inside;
        outside += t->outside;
        fetched += t->fetched;
        for (size_t leaf = 0; leaf < LEAVES; leaf++)
            if (t->leaf[leaf] != NULL) lines += lines_of(t->leaf[leaf]);
        if (lines > most) most = lines;
    }
    for (size_t leaf = 0; leaf < LEAVES; leaf++) {
        bool touched = false;
        for (const tally* t = tallies; t != NULL; t = t->next) touched |= t->leaf[leaf] != NULL;
        if (touched) all += lines_of_all(leaf);
    }
    fprintf(to, "inside %lu\noutside %lu\nfetched_lines %lu\n", (unsigned long)inside,
            (unsigned long)outside, (unsigned long)fetched);
    fprintf(to, "thread_lines %lu\nall_lines %lu\n", (unsigned long)most, (unsigned long)all);
}
