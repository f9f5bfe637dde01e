#include "capture/order/shadow.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/arena.h"
#include "capture/state/failure.h"

_Atomic(af_shadow_region*) af_shadow_regions[1u << (AF_ADDRESS_BITS - AF_SHADOW_REGION)];

static void* made(size_t bytes) {
    void* const p = af_map(bytes);
    if (p == NULL) {
        af_fail("out of memory while recording", "atomics", ENOMEM);
        syscall(SYS_exit_group, 97);
    }
    return p;
}

// A thread that loses the race to make a page leaves its own page unused.
af_shadow_page* af_shadow_make(uint64_t address) {
    _Atomic(af_shadow_region*)* const at = &af_shadow_regions[address >> AF_SHADOW_REGION];
    af_shadow_region* region = atomic_load_explicit(at, memory_order_acquire);
    if (region == NULL) {
        af_shadow_region* const mine = made(sizeof *mine);
        if (atomic_compare_exchange_strong(at, &region, mine)) region = mine;
    }
    const uint64_t number = (address & ((1ull << AF_SHADOW_REGION) - 1)) >> AF_SHADOW_PAGE;
    _Atomic(af_shadow_page*)* const slot = &region->pages[number];
    af_shadow_page* page = atomic_load_explicit(slot, memory_order_acquire);
    if (page == NULL) {
        af_shadow_page* const mine = af_alloc(sizeof *mine);
        if (atomic_compare_exchange_strong(slot, &page, mine)) page = mine;
    }
    return page;
}
