// Functions that instrumented assembly calls (autofinity/native/capture/interpose/entries.c).
#ifdef __x86_64__
#include "capture/interpose/blocks.h"
#include "tally.h"

uint32_t af_block_quick(const af_block_table* block) {
    af_seen* const seen = af_seen_by(block);
    for (uint32_t i = 0; i < block->entries_n; i++) {
        const af_block_entry e = block->entries[i];
        const uintptr_t address = seen->addresses[e.slot] + (uintptr_t)(intptr_t)e.delta;
        count(address, e.size, af_counted(e.counts));
    }
    seen->instructions = 0;
    return UINT32_MAX;
}

// Nothing is left to do behind the quick part.
__attribute__((used)) void af_block_apart(const af_block_table* block, uint32_t first) {
    (void)block;
    (void)first;
}
__attribute__((used)) void af_event_end(void) {}

static void string_operation(const af_block_table* block, const af_saved* saved) {
    const size_t size = af_string_bytes(block, saved);
    if (af_string_reads_source(block)) touch_range((const void*)saved->rsi, size, COPY);
    touch_range((const void*)saved->rdi, size, COPY);
}

static void lanes(const af_block_table* block, const af_seen* seen) {
    for (unsigned i = 0; i < block->lanes; i++)
        if (af_lane_counts(block, seen, i)) count(af_lane_address(block, seen, i), block->size, 1);
}

__attribute__((used)) void af_block_event(const af_block_table* block, const af_saved* saved) {
    af_block_quick(block);
    const af_seen* const seen = af_seen_by(block);
    const uintptr_t address = seen->addresses[block->slot];
    switch (block->event) {
        case AF_EVENT_VOLATILE_READ:
        case AF_EVENT_VOLATILE_WRITE:
        case AF_EVENT_LOAD:
        case AF_EVENT_STORE:
            count(address, block->size, 1);
            break;
        case AF_EVENT_CHANGE:
        case AF_EVENT_EXCHANGE:
        case AF_EVENT_COMPARE_EXCHANGE:
            count(address, block->size, 2);
            break;
        case AF_EVENT_COPY:
        case AF_EVENT_FILL:
        case AF_EVENT_SCAN:
        case AF_EVENT_COMPARE:
            string_operation(block, saved);
            break;
        case AF_EVENT_GATHER:
        case AF_EVENT_SCATTER:
            lanes(block, seen);
            break;
        default:
            break;
    }
}
#endif
