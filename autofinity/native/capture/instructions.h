// Who tells how many instructions the program makes: its instrumented blocks (blocks.c) or QEMU's
// plugin (plugin_side.c). A library has one of the two.
#ifndef AUTOFINITY_CAPTURE_INSTRUCTIONS_H
#define AUTOFINITY_CAPTURE_INSTRUCTIONS_H

#include "record.h"

// As the recording begins: sets af.counted where instructions will be told. Failures are said.
AF_HIDDEN void af_count_instructions(void);
// The calling thread begins to be recorded.
AF_HIDDEN void af_count_for_thread(void);

#endif
