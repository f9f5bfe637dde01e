// What others need of the mutexes of POSIX threads.
#pragma once

#include "capture/state/thread.h"

// The mutex is about to be initialised: nothing is known of it, whatever its address was before.
AF_HIDDEN void af_mutex_begins(pthread_mutex_t* m);
