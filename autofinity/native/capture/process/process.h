// The beginning and the end of the recording.
#pragma once

#include "capture/state/attributes.h"

AF_HIDDEN void af_finish(void);  // the program ends: everything is written, once
