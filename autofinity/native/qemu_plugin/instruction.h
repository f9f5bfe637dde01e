// SPDX-License-Identifier: GPL-2.0-or-later
//
// Effects of an instruction of x86-64 on memory, as far as its bytes show them.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum instruction_access {
    ACCESS_ANY,           // known when the access is made
    ACCESS_LOCKED,        // by its prefix, or an xchg with memory, which always locks
    ACCESS_FENCE,         // a locked `or` of 0 with the top of the stack: a compiler's fence
    ACCESS_LOAD,          // at most one, of 1 << size_shift bytes
    ACCESS_STORE,         // likewise
    ACCESS_LOAD_VECTOR,   // at most one, of 16 bytes that lie on a multiple of 16
    ACCESS_STORE_VECTOR,  // likewise
} instruction_access;

typedef struct instruction_facts {
    instruction_access access;
    uint8_t size_shift;
    bool repeats;  // a string instruction that repeats
} instruction_facts;

__attribute__((visibility("hidden"))) instruction_facts classify(const uint8_t* byte, size_t size);
