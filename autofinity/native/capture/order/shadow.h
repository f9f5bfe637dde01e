// A word for every four bytes of the program's memory that hold an atomic, found in two steps.
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/state/attributes.h"

// Regions are so large that their table is small: the kernel can map a library of 2 MiB by huge
// pages, and then the libraries that are loaded after it have other addresses in each run
// (process/addresses.c).
enum { AF_SHADOW_PAGE = 12, AF_SHADOW_REGION = 32, AF_ADDRESS_BITS = 48 };

// Words of a 4 KiB page, made at the first request for one of them.
typedef struct af_shadow_page {
    _Atomic uint64_t words[1u << (AF_SHADOW_PAGE - 2)];
} af_shadow_page;

typedef struct af_shadow_region {
    _Atomic(af_shadow_page*) pages[1u << (AF_SHADOW_REGION - AF_SHADOW_PAGE)];
} af_shadow_region;

extern AF_HIDDEN _Atomic(af_shadow_region*)
    af_shadow_regions[1u << (AF_ADDRESS_BITS - AF_SHADOW_REGION)];

AF_HIDDEN af_shadow_page* af_shadow_make(uint64_t address);

static inline _Atomic uint64_t* af_shadow_word(uint64_t address) {
    const uint64_t at = address & ((1ull << AF_ADDRESS_BITS) - 1);
    af_shadow_region* region =
        atomic_load_explicit(&af_shadow_regions[at >> AF_SHADOW_REGION], memory_order_acquire);
    af_shadow_page* page = NULL;
    if (AF_LIKELY(region != NULL)) {
        const uint64_t number = (at & ((1ull << AF_SHADOW_REGION) - 1)) >> AF_SHADOW_PAGE;
        page = atomic_load_explicit(&region->pages[number], memory_order_acquire);
    }
    if (AF_UNLIKELY(page == NULL)) page = af_shadow_make(at);
    return &page->words[(at & ((1u << AF_SHADOW_PAGE) - 1)) >> 2];
}
