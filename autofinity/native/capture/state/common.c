#include "capture/state/common.h"

static af_common common = {.ahead = 50000};
af_common* af_shared = &common;
