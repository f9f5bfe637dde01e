// Groups of tasks.
#pragma once

#include "capture/state/thread.h"

// Begins a worksharing construct whose tasks take part in reductions: such a construct is a
// taskgroup of its own.
AF_HIDDEN void af_begin_reducing(af_thread* t);
AF_HIDDEN void af_end_reducing(af_thread* t);
