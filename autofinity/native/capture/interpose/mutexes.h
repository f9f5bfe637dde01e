// Functions on mutexes of POSIX threads for other files.
#pragma once

#include "capture/state/thread.h"

// The mutex is about to be initialised: forgets everything about its address.
AF_HIDDEN void af_mutex_begins(pthread_mutex_t* m);
