// The data that instrumented assembly hands over (autofinity/capture/assembly/hooks.py writes it).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/state/attributes.h"
#include "capture/state/slot.h"

enum { AF_SEEN_SLOTS = 62 };

// One per thread, in every program and in the runtime for all shared objects: the touches so far of
// the block that runs.
typedef struct af_seen {
    uint64_t instructions;  // of earlier blocks that touched nothing
    uint64_t addresses[AF_SEEN_SLOTS];
    uint64_t unused;
    uint8_t index[64];  // of a gather: vector registers, unchanged
    uint8_t mask[64];
} af_seen;

extern __attribute__((visibility("default"))) __thread af_seen __af_seen_shared
    __attribute__((tls_model("initial-exec")));

typedef enum af_event_kind {
    AF_EVENT_NONE,
    AF_EVENT_VOLATILE_READ,
    AF_EVENT_VOLATILE_WRITE,
    AF_EVENT_LOAD,
    AF_EVENT_STORE,
    AF_EVENT_CHANGE,
    AF_EVENT_EXCHANGE,
    AF_EVENT_COMPARE_EXCHANGE,
    AF_EVENT_FENCE,
    AF_EVENT_COPY,  // string operations
    AF_EVENT_FILL,
    AF_EVENT_SCAN,
    AF_EVENT_COMPARE,
    AF_EVENT_GATHER,
    AF_EVENT_SCATTER,
} af_event_kind;

typedef struct af_block_entry {
    int32_t delta;    // from the kept address
    uint32_t counts;  // reads and writes, as in a slot
    uint16_t offset;  // instructions of the block up to and including this one
    uint8_t slot;     // of the kept address
    uint8_t size;
    uint8_t pointer;  // whether the loaded value may be an address
    uint8_t unused[3];
} af_block_entry;

typedef struct af_block_table {
    int64_t seen;  // offset of the thread's af_seen from its thread pointer
    uint16_t entries_n, instructions;
    uint8_t event, size, order, slot;  // the event after the entries, if any
    uint8_t lanes, index_bytes, masked;
    uint8_t neutral;  // it touched only the stack's own words and constants
    uint8_t shared;   // the code is in a shared object, which uses __af_seen_shared
    uint8_t unused[3];
    af_block_entry entries[];
} af_block_table;

static inline af_seen* af_seen_by(const af_block_table* block) {
    if (block->shared) return &__af_seen_shared;
    return (af_seen*)((char*)__builtin_thread_pointer() + block->seen);
}

// Registers of the program that the hooks have saved.
typedef struct af_saved {
    uint64_t flags, r11, r10, r9, r8, rdi, rsi, rdx, rcx, back, rax;
} af_saved;

// Records the entries from `first` on, with calls where needed, and then the block's instructions.
AF_HIDDEN void af_block_apart(const af_block_table* block, uint32_t first);

// Records the block, and then the event. An atomic instruction comes between this call and
// af_event_end.
AF_HIDDEN void af_block_event(const af_block_table* block, const af_saved* saved);
AF_HIDDEN void af_event_end(void);

// Bytes of a string operation: `rcx` elements, or one, of `size` bytes from rsi to rdi, or only
// from or only to one of them. Addresses ascend, as compilers use these instructions; an operation
// that may end early counts at least up to the end of the line.
static inline size_t af_string_bytes(const af_block_table* block, const af_saved* saved) {
    const size_t bytes = (block->order ? saved->rcx : 1) * block->size;
    const bool ends_early = block->event == AF_EVENT_SCAN || block->event == AF_EVENT_COMPARE;
    return ends_early && bytes > 64 ? 64 : bytes;
}
static inline bool af_string_reads_source(const af_block_table* block) {
    return block->event == AF_EVENT_COPY || block->event == AF_EVENT_COMPARE;
}
static inline bool af_string_writes(const af_block_table* block) {
    return block->event == AF_EVENT_COPY || block->event == AF_EVENT_FILL;
}

// Lanes of gathers and scatters: whether the mask lets a lane through, and its address.
static inline bool af_lane_counts(const af_block_table* block, const af_seen* seen, unsigned lane) {
    return !block->masked || (int8_t)seen->mask[(lane + 1) * block->size - 1] < 0;
}
static inline uintptr_t af_lane_address(const af_block_table* block, const af_seen* seen,
                                        unsigned lane) {
    const void* const index = seen->index;
    const int64_t at =
        block->index_bytes == 8 ? ((const int64_t*)index)[lane] : ((const int32_t*)index)[lane];
    return seen->addresses[block->slot] + (uintptr_t)(at * block->order);
}
