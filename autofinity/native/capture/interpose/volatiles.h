// Calls just before accesses to variables by which threads signal each other. `size`: 1, 2, 4, 8 or
// 16 bytes.
#pragma once

#include "capture/state/attributes.h"

AF_HIDDEN void af_volatile_read(void* p, unsigned size);
AF_HIDDEN void af_volatile_write(void* p, unsigned size);
