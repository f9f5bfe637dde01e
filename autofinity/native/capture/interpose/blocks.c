// Records blocks of instrumented assembly: the lines that each touched, and its number of
// instructions. The hooks that call this file save all registers of the program, but vector
// registers only where more than filling slots is needed, so this file must not use vector
// registers.
#ifdef __x86_64__
#include "capture/interpose/blocks.h"

#include "capture/pace/polling.h"
#include "capture/record/accesses.h"
#include "capture/state/common.h"

// Records accesses to one line; there is room for a slot.
static void join_or_open(af_thread* t, uint64_t now, uintptr_t address, uint32_t counts) {
    if (af_joins(t, t->floor, now, address, 1, counts)) return;
    const uint64_t pointer = t->pointer;
    af_note_chase(t, af_open_run(t, af_open_at(t, address), now, address, counts), address,
                  pointer);
}

// Records an entry whose accesses do not join a run as a whole. Returns how many accesses it has
// more than its counts say: those to a second line.
static __attribute__((noinline)) int32_t open_runs(af_thread* t, uint64_t now, uintptr_t address,
                                                   unsigned size, uint32_t counts) {
    join_or_open(t, now, address, counts);
    if (AF_LIKELY((address & 63) + size <= 64)) return 0;
    join_or_open(t, now, (address | 63) + 1, counts);
    return (int32_t)af_counted(counts);
}

// Whether there is room for the slots of an entry, which may reach into a second line.
static inline bool has_room(const af_thread* t) { return t->limit - t->next >= 2; }

// Whether the block polls. A loop that waits may call functions and spill registers: that is no
// progress, and once the wait is certain, no work either. A loop that polls a volatile may record
// nothing in between (volatiles.c).
static inline bool polls(const af_thread* t, const af_block_table* block) {
    return AF_UNLIKELY(t->window_n > 0) && block->neutral && af_position(t) == t->window_seq;
}

static inline bool waits(const af_thread* t) {
    return t->polls > AF_PATIENT_POLLS || t->unsettled != NULL;
}

uint32_t af_block_quick(const af_block_table* block) {
    af_thread* const t = af_self;
    if (AF_UNLIKELY(t == NULL)) return af_recording() ? 0 : UINT32_MAX;
    af_seen* const seen = af_seen_by(block);
    const bool polling = polls(t, block);
    if (AF_UNLIKELY(polling && waits(t))) {
        seen->instructions = 0;
        return UINT32_MAX;
    }
    if (AF_UNLIKELY(!has_room(t))) return 0;
    const uint64_t before = t->now + seen->instructions;
    const af_slot* const floor = t->floor;
    const af_block_entry* const end = block->entries + block->entries_n;
    uint32_t counts = 0;  // 16 bits of each suffice: a block has at most 200 entries
    int32_t accesses = 0;
    // Most of a capture's time goes here, where a program's data fit into caches.
    for (const af_block_entry* e = block->entries; e < end; e++) {
        const uintptr_t address = seen->addresses[e->slot] + (uintptr_t)(intptr_t)e->delta;
        const uint64_t now = before + e->offset;
        if (AF_UNLIKELY(!af_joins(t, floor, now, address, e->size, e->counts))) {
            if (AF_UNLIKELY(!has_room(t))) {
                t->budget -= accesses + (int32_t)af_counted(counts);
                return (uint32_t)(e - block->entries);
            }
            accesses += open_runs(t, now, address, e->size, e->counts);
        }
        counts += e->counts;
        if (e->pointer) af_loaded_from(t, address);
    }
    t->budget -= accesses + (int32_t)af_counted(counts);
    if (AF_UNLIKELY(t->budget < 0)) return block->entries_n;
    t->now = before + block->instructions;
    seen->instructions = 0;
    if (AF_UNLIKELY(polling)) t->window_seq = af_position(t);
    return UINT32_MAX;
}
#endif
