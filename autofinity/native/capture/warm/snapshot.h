// The lines that a thread touched last, newest first, with which the replay of a window begins
// (trace/sampled_format.h has the form).
#pragma once

#include "capture/warm/recency.h"

typedef struct af_snapshot {
    uint8_t* bytes;  // NULL: there is no memory
    size_t size;
    size_t room;
} af_snapshot;

// Takes at most `most` lines, as of stamp `now`. The other lines are forgotten.
AF_HIDDEN af_snapshot af_snapshot_take(af_recency* r, uint32_t now, uint64_t most);
AF_HIDDEN void af_snapshot_end(af_snapshot* snapshot);
