// The thread that touched each page first, and the order of these touches, over the whole run.
#pragma once

#include "capture/state/thread.h"

// Called before the first thread. False: there is no memory.
AF_HIDDEN bool af_first_touch_open(void);
enum { AF_STREAM_BITS = 19, AF_LAST_EPOCH = (1 << (32 - AF_STREAM_BITS)) - 1 };

// The toucher of a page: a stream, and the epoch (state/sampling.h) that it has passed to.
static inline uint32_t af_toucher(uint32_t stream, uint64_t epoch) {
    return (uint32_t)(epoch < AF_LAST_EPOCH ? epoch : AF_LAST_EPOCH) << AF_STREAM_BITS | stream;
}
static inline uint32_t af_stream_of(uint32_t toucher) {
    return toucher & ((1u << AF_STREAM_BITS) - 1);
}
static inline uint32_t af_epoch_of(uint32_t toucher) { return toucher >> AF_STREAM_BITS; }

AF_HIDDEN void af_first_touch(uint64_t page, uint32_t toucher);
// Number of pages that were touched, and the number-th of them. False: that touch is not written
// yet.
AF_HIDDEN uint64_t af_first_touches(void);
AF_HIDDEN bool af_first_touch_at(uint64_t number, uint64_t* page, uint32_t* toucher);
