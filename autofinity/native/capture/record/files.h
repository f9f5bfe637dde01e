// The files of a trace, written piece by piece.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_append(const char* path, const void* data, size_t size);
// Paths are put where there is room for so many bytes.
enum { AF_PATH_BYTES = 4200 };
AF_HIDDEN void af_snapshot_path(const af_thread* t, char* path);
// The path of the file of the thread's stream, or of its skeleton.
AF_HIDDEN void af_track_path(const af_thread* t, const af_track* track, char* path);
// Writes the header of a track's file.
AF_HIDDEN void af_track_begin(af_thread* t, af_track* track);
