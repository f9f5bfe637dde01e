// Who tells how many instructions the program makes: its instrumented blocks (blocks.c) or QEMU's
// plugin (plugin_side.c). A library has one of the two.
#pragma once

#include <stdbool.h>

#include "capture/state/attributes.h"

// As the recording begins: whether instructions will be told. Failures are said.
AF_HIDDEN bool af_count_instructions(void);
// The calling thread begins to be recorded.
AF_HIDDEN void af_count_for_thread(void);
