// The same addresses in every run: where a page lies decides its colour, and with it which lines
// push each other out of the caches; captures of one program would differ by it alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/state/attributes.h"

// As the program begins; may start it again with these `arguments`. Whether addresses are steady.
AF_HIDDEN bool af_steady_addresses(char** arguments);
// Where the stack is to be when main begins, or 0.
AF_HIDDEN uintptr_t af_ground(void);
