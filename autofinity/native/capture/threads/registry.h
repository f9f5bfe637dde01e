// All threads that are or were recorded, by the number of their stream. The entries outlive the
// threads.
#pragma once

#include "capture/state/thread.h"

// Called before the first thread. False: there is no memory.
AF_HIDDEN bool af_registry_open(void);
// A number for the next thread; AF_MAX_STREAMS or more: there are too many threads.
AF_HIDDEN uint32_t af_registry_number(void);
AF_HIDDEN void af_registry_enter(af_thread* t);

// Count of numbers in use, and the thread of a number; NULL while that thread is being made.
AF_HIDDEN uint32_t af_registry_size(void);
AF_HIDDEN af_thread* af_registry_at(uint32_t number);
AF_HIDDEN af_thread* af_registry_find(pthread_t handle);
