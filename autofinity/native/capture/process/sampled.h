// What a sampled capture has besides its streams: pages, windows, meetings. Written before the
// index.
#pragma once

#include <stdbool.h>

#include "capture/process/index.h"
#include "capture/state/attributes.h"

// As the program begins. False: it was said why not.
AF_HIDDEN bool af_sampled_begin(const char* wanted);
// All threads are settled.
AF_HIDDEN void af_sampled_write(const af_facts* facts);
