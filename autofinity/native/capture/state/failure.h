// What is said when recording cannot go on.
#pragma once

#include "capture/state/attributes.h"

// The program goes on; without an index nobody takes the trace for whole. Says the first failure
// only. `error`: a number of errno.h.
// As autofinity/capture/run.py looks for it.
#define AF_TOO_MANY_EVENTS "more events than a replay has memory for"

AF_HIDDEN void af_fail(const char* what, const char* path, int error);
