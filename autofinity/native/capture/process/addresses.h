// The same addresses in every run: the address of a page decides its colour, and so which lines
// replace each other in caches. Without this, captures of one program would differ by their
// addresses alone.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/state/attributes.h"

// Called as the program begins; may start the program again with these `arguments`. Returns whether
// addresses are steady.
AF_HIDDEN bool af_steady_addresses(char** arguments);
// Address of the stack when main begins, or 0 where none is prescribed.
AF_HIDDEN uintptr_t af_ground(void);
