// Moments at which all threads had reached one point: a barrier of the region's largest team. All
// are counted; evenly spread ones are kept, with the begin and the end of the region.
#pragma once

#include "capture/state/thread.h"

typedef struct af_met {
    uint64_t work, met;
    const uint64_t* instructions;  // of each thread
    uint32_t threads;              // the other threads have not begun
} af_met;

AF_HIDDEN void af_meetings_begin(void);       // the region begins, the first time
AF_HIDDEN void af_meetings_end(void);         // the region ends, perhaps not the last time
AF_HIDDEN void af_meeting(unsigned threads);  // the last of so many threads reached its barrier
AF_HIDDEN uint32_t af_meetings_kept(void);    // begin and end included
AF_HIDDEN af_met af_meetings_at(uint32_t number);
