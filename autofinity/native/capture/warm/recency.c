#include "capture/warm/recency.h"

#include <errno.h>

#include "capture/state/arena.h"
#include "capture/state/failure.h"
#include "capture/warm/first_touch.h"

// Words lie in slabs: a small one, for threads that touch little, and then huge pages, since random
// touches of small pages miss the TLB. A slab's header takes the place of a page's words.
enum { WORDS_BYTES = AF_PAGE_WORDS * sizeof(uint32_t), FIRST_SLAB_BYTES = 128 << 10 };
typedef struct af_slab {
    struct af_slab* next;
    size_t bytes;
} af_slab;
enum { TABLE_BYTES = AF_PAGES_OF_TABLE * sizeof(uint32_t*) };
enum { TABLES_BYTES = AF_PAGE_TABLES * sizeof(uint32_t**) };

static void* no_memory(void) {
    af_fail("out of memory for the lines of a sampled capture", "", ENOMEM);
    return NULL;
}

af_recency* af_recency_new(void) {
    af_recency* const r = af_map(sizeof *r);
    if (r == NULL) return NULL;
    r->tables = af_map(TABLES_BYTES);
    if (r->tables != NULL) return r;
    af_unmap(r, sizeof *r);
    return NULL;
}

void af_recency_end(af_recency* r) {
    for (uint32_t i = 0; i < r->used_n; i++) af_unmap(r->tables[r->used[i]], TABLE_BYTES);
    af_unmap(r->tables, TABLES_BYTES);
    if (r->used != NULL) af_unmap(r->used, r->used_room * sizeof *r->used);
    for (af_slab* slab = r->slabs; slab != NULL;) {
        af_slab* const next = slab->next;
        af_unmap(slab, slab->bytes);
        slab = next;
    }
    af_unmap(r, sizeof *r);
}

static bool has_room_for_table(af_recency* r) {
    if (r->used_n < r->used_room) return true;
    const uint32_t room = r->used_room == 0 ? 1024 : r->used_room * 2;
    uint32_t* const more = af_map(room * sizeof *more);
    if (more == NULL) return false;
    for (uint32_t i = 0; i < r->used_n; i++) more[i] = r->used[i];
    if (r->used != NULL) af_unmap(r->used, r->used_room * sizeof *r->used);
    r->used = more;
    r->used_room = room;
    return true;
}

static uint32_t** make_table(af_recency* r, uint32_t number) {
    if (!has_room_for_table(r)) return NULL;
    uint32_t** const table = af_map(TABLE_BYTES);
    if (table == NULL) return NULL;
    r->tables[number] = table;
    uint32_t at = r->used_n++;
    for (; at > 0 && r->used[at - 1] > number; at--) r->used[at] = r->used[at - 1];
    r->used[at] = number;
    return table;
}

static bool add_slab(af_recency* r) {
    const bool first = r->slabs == NULL;
    const size_t bytes = first ? FIRST_SLAB_BYTES : AF_HUGE_BYTES;
    af_slab* const slab = first ? af_map(bytes) : af_map_huge(bytes);
    if (slab == NULL) return false;
    *slab = (af_slab){r->slabs, bytes};
    r->slabs = slab;
    r->next = (uint32_t*)slab + AF_PAGE_WORDS;
    r->left = (uint32_t)(bytes / WORDS_BYTES) - 1;
    return true;
}

// The words of a page, all 0.
static uint32_t* take_words(af_recency* r) {
    uint32_t* words = r->unused;
    if (words != NULL) {
        __builtin_memcpy(&r->unused, words, sizeof r->unused);
        for (int i = 0; i < AF_PAGE_WORDS; i++) words[i] = 0;
        return words;
    }
    if (r->left == 0 && !add_slab(r)) return NULL;
    words = r->next;
    r->next += AF_PAGE_WORDS;
    r->left--;
    return words;
}

uint32_t* af_recency_page(af_recency* r, uint64_t page, uint32_t stream) {
    if (page >> AF_PAGE_BITS != 0) return r->nowhere;
    const uint32_t number = (uint32_t)(page >> AF_PAGE_TABLE_BITS);
    uint32_t** table = r->tables[number];
    if (table == NULL) table = make_table(r, number);
    if (table == NULL) return no_memory(), r->nowhere;
    uint32_t** const place = &table[page % AF_PAGES_OF_TABLE];
    if (*place == NULL) {
        *place = take_words(r);
        if (*place == NULL) return no_memory(), r->nowhere;
        r->pages++;
        af_first_touch(page, stream);
    }
    r->cache[page % AF_RECENT_PAGES].page = page;
    r->cache[page % AF_RECENT_PAGES].lines = *place;
    return *place;
}

void af_recency_forget_page(af_recency* r, uint64_t page) {
    uint32_t** const place = &r->tables[page >> AF_PAGE_TABLE_BITS][page % AF_PAGES_OF_TABLE];
    __builtin_memcpy(*place, &r->unused, sizeof r->unused);
    r->unused = *place;
    *place = NULL;
    r->pages--;
}

void af_recency_forget_cached(af_recency* r) {
    for (int i = 0; i < AF_RECENT_PAGES; i++) r->cache[i].lines = NULL;
}
