// SPDX-License-Identifier: GPL-2.0-or-later
//
// The record of a vCPU, which is a thread of QEMU's.
#pragma once

#include "capture/state/thread.h"
#include "qemu_plugin/spinning.h"

typedef struct vcpu {
    af_thread** self;    // never NULL
    uint64_t repeating;  // address of the string instruction that ended the last block, or 0
    // The last access that may have parts, to recognise the parts of a vector:
    uintptr_t part;  // its instruction, or 0
    uint64_t end;
    bool store;
    spinning spin;
} vcpu;

// The record of the calling thread.
extern AF_HIDDEN __thread vcpu vcpu_mine __attribute__((tls_model("initial-exec")));

// The record of its thread while accesses count, or NULL.
static inline af_thread* vcpu_recording(const vcpu* c) {
    af_thread* const t = *c->self;
    return t != NULL && !t->busy ? t : NULL;
}
