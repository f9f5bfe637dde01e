// One event of a thread before it is encoded.
#pragma once

#include <stdint.h>

// Kinds as in trace/event.hpp, and two that exist in the buffer only.
enum {
    AF_ACCESS,
    AF_LOCK,
    AF_UNLOCK,
    AF_BARRIER,
    AF_POST,
    AF_AWAIT,
    AF_UNIT_BEGIN,
    AF_UNIT_END,
    AF_ROI_BEGIN,
    AF_ROI_END,
    AF_THREAD_BEGIN,
    AF_THREAD_END,
    AF_COMPUTE,
    AF_HEARTBEAT,
    AF_SKIP = 254,  // the slot is empty
    AF_PENDING =
        255,  // an await if its value is not 0; decided at unlock or when the buffer is full
};
enum { AF_KIND_SHIFT = 56 };  // position of the kind in a slot's shape
enum { AF_AUX_SHIFT = 32 };   // position of the aux
enum { AF_SHARED = 1 };       // aux of a lock: taken for reading
enum { AF_FLAG_ATOMIC = 1, AF_FLAG_FIRST_WRITE = 2, AF_FLAG_DEPENDENT = 4 };

typedef struct af_slot {
    uint64_t value;
    uint64_t start;  // the thread's instruction count at its begin
    union {
        struct {
            union {
                struct {
                    uint16_t reads;
                    uint16_t writes;
                };
                uint32_t counts;  // both
            };
            union {
                uint16_t span;
                uint16_t aux;  // of events that are no accesses
            };
            uint8_t flags;
            uint8_t kind;
        };
        uint64_t shape;  // all five fields, as the trace's model takes them (model.h)
    };
} af_slot;

// The counts and the shape of a slot, as the union has them.
static inline uint32_t af_slot_counts(unsigned reads, unsigned writes) {
    return reads | writes << 16;
}
static inline unsigned af_counted_reads(uint32_t counts) { return counts & UINT16_MAX; }
static inline unsigned af_counted_writes(uint32_t counts) { return counts >> 16; }
static inline unsigned af_counted(uint32_t counts) {
    return af_counted_reads(counts) + af_counted_writes(counts);
}
static inline uint64_t af_slot_shape(uint32_t counts, unsigned flags, unsigned kind) {
    return counts | (uint64_t)flags << 48 | (uint64_t)kind << AF_KIND_SHIFT;
}

typedef struct af_open_line {
    uint64_t base;  // first address of the line, or AF_NO_LINE
    af_slot* slot;
} af_open_line;
#define AF_NO_LINE UINT64_MAX
