// Fences, as instrumented code of either kind tells them.
#pragma once

#include "capture/state/thread.h"

// A fence of the program, once it is carried out.
AF_HIDDEN void af_fence(af_thread* t, int order);
