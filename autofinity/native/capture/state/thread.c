#include "capture/state/thread.h"

__thread af_thread* af_self;
__thread af_thread* af_mine;
