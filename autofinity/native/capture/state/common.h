// State of the whole recording that every file needs which touches slots. The state lies in the
// memory of the captured program. QEMU's plugin records the accesses of unmodified binaries into
// the same thread records, and gets the address of this state (handshake.h).
#pragma once

#include <stdatomic.h>
#include <stdbool.h>

#include "capture/state/areas.h"
#include "capture/state/attributes.h"
#include "capture/state/sampling.h"
#include "trace/format.h"

enum { AF_SEATS = 1024 };  // most threads at a time that fairness compares

struct af_thread;

typedef struct af_common {
    _Atomic int recording;  // 0: off (no folder asked for, failed, or finished)
    _Atomic int finishing;
    _Atomic int failed;
    _Atomic uint64_t spins;
    _Atomic uint64_t token;  // the last token
    af_areas areas;          // set before anything is recorded
    uint64_t ahead;          // most accesses a thread may be ahead of another; 0: no fairness
    af_sampling sampling;
    uint64_t most_events;     // of all threads that may be recorded; 0: any number
    _Atomic uint64_t events;  // in sealed chunks
    char directory[4096];
    af_crc_table crc;
    struct {
        atomic_flag lock;
        _Atomic int top;  // seats in use are below
        _Atomic(struct af_thread*) seats[AF_SEATS];
    } fair;
} af_common;

// The runtime's own state (common.c), or the state whose address the plugin was given
// (qemu_plugin/plugin.c).
extern AF_HIDDEN af_common* af_shared;

static inline bool af_recording(void) {
    return atomic_load_explicit(&af_shared->recording, memory_order_relaxed) != 0;
}

// A unique number for a post.
static inline uint64_t af_token(void) {
    return atomic_fetch_add_explicit(&af_shared->token, 1, memory_order_relaxed) + 1;
}

static inline void af_count_spins(uint64_t polls) {
    atomic_fetch_add_explicit(&af_shared->spins, polls, memory_order_relaxed);
}
