// The index of a trace, written last: without an index no reader accepts the trace as complete.
#pragma once

#include <stdbool.h>
#include <time.h>

#include "capture/state/attributes.h"

typedef struct af_facts {
    struct timespec begin;
    bool steady;   // addresses are the same in every run
    bool counted;  // instructions are counted; otherwise they are estimated
} af_facts;

AF_HIDDEN void af_write_index(const af_facts* facts);
// Writes the index of the skeleton (record/skeleton.h), in the skeleton's folder.
AF_HIDDEN void af_write_skeleton_index(const af_facts* facts);
