// SPDX-License-Identifier: GPL-2.0-or-later
//
// What an instruction of x86-64 does to memory, as far as that is told by its bytes.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum instruction_access {
    ACCESS_ANY,           // to be told when it is made
    ACCESS_LOCKED,        // by its prefix, or as xchg with memory always is
    ACCESS_FENCE,         // a locked `or` of 0 with the top of the stack, as compilers write one
    ACCESS_LOAD,          // at most one, of 1 << size_shift bytes
    ACCESS_STORE,         // likewise
    ACCESS_LOAD_VECTOR,   // at most one, of 16 bytes that lie on a multiple of 16
    ACCESS_STORE_VECTOR,  // likewise
} instruction_access;

typedef struct instruction_facts {
    instruction_access access;
    uint8_t size_shift;
    bool repeats;  // a string instruction that does so
} instruction_facts;

__attribute__((visibility("hidden"))) instruction_facts classify(const uint8_t* byte, size_t size);
