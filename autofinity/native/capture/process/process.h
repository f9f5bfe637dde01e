// The beginning and the end of the recording.
#pragma once

#include "capture/state/attributes.h"

AF_HIDDEN void af_finish(void);  // called at the end of the program: writes everything, once
