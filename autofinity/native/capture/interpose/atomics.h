// Fences, as both kinds of instrumented code report them.
#pragma once

#include "capture/state/thread.h"

// Records a fence of the program after it is carried out.
AF_HIDDEN void af_fence(af_thread* t, int order);
