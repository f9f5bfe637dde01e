// Groups of tasks.
#pragma once

#include "capture/state/thread.h"

// A worksharing construct of which tasks take part in reductions is a taskgroup of its own.
AF_HIDDEN void af_begin_reducing(af_thread* t);
AF_HIDDEN void af_end_reducing(af_thread* t);
