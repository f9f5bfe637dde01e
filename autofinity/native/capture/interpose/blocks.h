// Blocks of instrumented assembly: the part of each that takes no calls.
#pragma once

#include "capture/interpose/hooks.h"
#include "capture/state/attributes.h"

// It is called with the program's vector registers in use, and leaves them alone.
// How many entries were recorded: UINT32_MAX for all, and then the block's instructions are, too;
// fewer where something has to be done first that takes calls.
AF_HIDDEN uint32_t af_block_quick(const af_block_table* block);
