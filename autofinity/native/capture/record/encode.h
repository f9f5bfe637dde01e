// From slots to the chunks of a stream's file.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_drain(af_thread* t);  // encodes all slots; between windows, notes their lines
AF_HIDDEN void af_drain_slots(af_thread* t);  // called by code that has made the thread busy
AF_HIDDEN void af_encode_slot(af_thread* t, af_track* track, const af_slot* s);
AF_HIDDEN void af_seal_chunk(af_thread* t, af_track* track);
