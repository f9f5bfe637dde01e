// Blocks of instrumented assembly: the part of each that makes no calls.
#pragma once

#include "capture/interpose/hooks.h"
#include "capture/state/attributes.h"

// The function runs while the program's vector registers are in use, and leaves these registers
// alone.
//
// Returns the number of entries that were recorded. UINT32_MAX: all entries and the block's
// instructions were recorded. Fewer: something that makes calls has to be done first.
AF_HIDDEN uint32_t af_block_quick(const af_block_table* block);
