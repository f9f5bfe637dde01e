// The file of first touches: runs of pages in order; the runs before a window are separate from
// those in it.
#pragma once

#include <stdint.h>

#include "capture/state/attributes.h"

// Writes the file. Returns how many of its runs were touched in each epoch or earlier, by epochs
// from 0 on, in pages of their own. NULL: there is no memory.
AF_HIDDEN const uint64_t* af_pages_write(void);
