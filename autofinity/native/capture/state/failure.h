// Messages for the case that recording cannot go on.
#pragma once

#include "capture/state/attributes.h"

// Reports that recording failed, only the first time. The program goes on; without an index no
// reader accepts the trace as complete. `error`: a number of errno.h.
#define AF_TOO_MANY_EVENTS "more events than a replay has memory for"

AF_HIDDEN void af_fail(const char* what, const char* path, int error);
