// The files that a sampled capture has besides its streams: pages, windows, meetings. They are
// written before the index.
#pragma once

#include <stdbool.h>

#include "capture/process/index.h"
#include "capture/state/attributes.h"

// Called as the program begins. False: it failed, and the reason was printed.
AF_HIDDEN bool af_sampled_begin(const char* wanted);
// Called after all threads are settled.
AF_HIDDEN void af_sampled_write(const af_facts* facts);
