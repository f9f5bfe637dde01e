// Unique numbers, and memory: pages, or pieces that are never freed.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "capture/state/attributes.h"

AF_HIDDEN uint64_t af_ids(uint64_t count);  // `count` unique numbers for objects and instances
AF_HIDDEN void* af_map(size_t bytes);       // zeroed pages, or NULL
enum { AF_HUGE_BYTES = 1 << 21 };           // of a huge page
// The same, a multiple of AF_HUGE_BYTES, in huge pages where Linux gives some.
AF_HIDDEN void* af_map_huge(size_t bytes);
AF_HIDDEN void af_unmap(void* pages, size_t bytes);
AF_HIDDEN void* af_alloc(size_t bytes);  // zeroed; ends the program when there is no memory
