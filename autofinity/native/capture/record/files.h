// The files of a trace, written piece by piece.
#pragma once

#include "capture/state/thread.h"

AF_HIDDEN void af_append(const char* path, const void* data, size_t size);
AF_HIDDEN void af_snapshot_path(const af_thread* t, char* path, size_t size);
AF_HIDDEN void af_stream_path(const af_thread* t, char* path, size_t size);
