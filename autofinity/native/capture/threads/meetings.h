// Moments at which all threads had come to one point: a barrier of the largest team of the region.
// All are counted, and evenly spread ones kept, with the begin and the end of the region.
#pragma once

#include "capture/state/thread.h"

typedef struct af_met {
    uint64_t work, met;
    const uint64_t* instructions;  // of each thread
    uint32_t threads;              // the others have not begun
} af_met;

AF_HIDDEN void af_meetings_begin(void);       // the region, the first time
AF_HIDDEN void af_meetings_end(void);         // the region, so far
AF_HIDDEN void af_meeting(unsigned threads);  // the last of so many has come to their barrier
AF_HIDDEN uint32_t af_meetings_kept(void);    // with begin and end
AF_HIDDEN af_met af_meetings_at(uint32_t number);
