// The index of a trace, written last: without it nobody takes the trace for whole.
#pragma once

#include <stdbool.h>
#include <time.h>

#include "capture/state/attributes.h"

typedef struct af_facts {
    struct timespec begin;
    bool steady;   // addresses are the same in every run
    bool counted;  // somebody tells the instructions; otherwise they are estimated
} af_facts;

AF_HIDDEN void af_write_index(const af_facts* facts);
// Of the skeleton (record/skeleton.h), in its folder.
AF_HIDDEN void af_write_skeleton_index(const af_facts* facts);
