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
static inline void join_or_open(af_thread* t, uint64_t now, uintptr_t address, unsigned reads,
                                unsigned writes) {
    af_open_line* const o = af_open_at(t, address);
    if (AF_LIKELY(af_lies_in(o, address, 1))) {
        const uint64_t span = af_span_of(o->slot, now);
        if (AF_LIKELY(af_is_open(t->floor, o->slot, span))) {
            af_join(o->slot, span, reads, writes);
            return;
        }
    }
    const uint64_t pointer = t->pointer;
    af_note_chase(t, af_open_run(t, o, now, address, reads, writes), address, pointer);
}

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
    const uint64_t before = t->now + seen->instructions;
    const uint32_t count = block->entries_n;
    int32_t accesses = 0;
    for (uint32_t i = 0; i < count; i++) {
        const af_block_entry e = block->entries[i];
        const uintptr_t address = seen->addresses[e.slot] + (intptr_t)e.delta;
        const uint64_t now = before + e.offset;
        if (AF_UNLIKELY(t->next + 2 > t->limit)) {
            t->budget -= accesses;
            return i;
        }
        join_or_open(t, now, address, e.reads, e.writes);
        accesses += e.reads + e.writes;
        if (AF_UNLIKELY((address & 63) + (1u << e.size_log) > 64)) {
            join_or_open(t, now, (address | 63) + 1, e.reads, e.writes);
            accesses += e.reads + e.writes;
        }
        if (e.pointer) af_loaded_from(t, address);
    }
    t->budget -= accesses;
    if (AF_UNLIKELY(t->budget < 0)) return count;
    t->now = before + block->instructions;
    seen->instructions = 0;
    if (AF_UNLIKELY(polling)) t->window_seq = af_position(t);
    return UINT32_MAX;
}
#endif
