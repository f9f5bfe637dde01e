// SPDX-License-Identifier: GPL-2.0-or-later
//
// The record of each kind of instruction that accesses memory.
#pragma once

#include "qemu_plugin/instruction.h"
#include "qemu_plugin/qemu_api.h"

// Records the accesses of an instruction from now on. `after`: instructions behind it in its block,
// which are counted when the block begins.
__attribute__((visibility("hidden"))) void accesses_of(qemu_instruction* instruction,
                                                       const instruction_facts* what, size_t after);
