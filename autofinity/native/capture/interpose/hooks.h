// What instrumented assembly hands over (autofinity/capture/assembly/hooks.py writes it).
#pragma once

#include <stdint.h>

enum { AF_SEEN_SLOTS = 62 };

// A thread's own, in every program and in the runtime for all shared objects: what the block that
// runs has touched so far.
typedef struct af_seen {
    uint64_t instructions;  // of blocks before it that touched nothing
    uint64_t addresses[AF_SEEN_SLOTS];
    uint64_t unused;
    uint8_t index[64];  // of a gather: vector registers as they are
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
    uint16_t offset;  // instructions of the block up to and with this one
    uint8_t slot;     // of the kept address
    uint8_t size_log : 3, pointer : 1;
    uint8_t reads, writes;
    uint16_t unused;
} af_block_entry;

typedef struct af_block_table {
    int64_t seen;  // offset of the thread's af_seen from its thread pointer
    uint16_t entries_n, instructions;
    uint8_t event, size, order, slot;  // what follows the entries, if anything does
    uint8_t lanes, index_bytes, masked;
    uint8_t neutral;  // it touched nothing but the stack's own words and constants
    uint8_t shared;   // the code is in a shared object, which uses __af_seen_shared
    uint8_t unused[3];
    af_block_entry entries[];
} af_block_table;

static inline af_seen* af_seen_by(const af_block_table* block) {
    if (block->shared) return &__af_seen_shared;
    return (af_seen*)((char*)__builtin_thread_pointer() + block->seen);
}

// What the hooks have saved of the program's registers.
typedef struct af_saved {
    uint64_t flags, r11, r10, r9, r8, rdi, rsi, rdx, rcx, back, rax;
} af_saved;
