// From slots to the chunks of a stream's file.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_drain(af_thread* t);  // encodes all slots
AF_HIDDEN void af_seal_chunk(af_thread* t);
