// The source of instruction counts: the program's instrumented blocks (blocks.c) or QEMU's plugin
// (plugin_side.c). A library has one of the two.
#pragma once

#include <stdbool.h>

#include "capture/state/attributes.h"

// Called as the recording begins: returns whether instructions are counted. Failures are printed.
AF_HIDDEN bool af_count_instructions(void);
// Called when the recording of the calling thread begins.
AF_HIDDEN void af_count_for_thread(void);
