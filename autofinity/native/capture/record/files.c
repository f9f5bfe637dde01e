#include "capture/record/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/common.h"
#include "capture/state/failure.h"

// System calls by number: no cancellation point, nothing interposed, no descriptor kept open (a
// program may close all of them, or fork).
void af_append(const char* path, const void* data, size_t size) {
    const long fd =
        syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        af_fail("cannot open", path, errno);
        return;
    }
    const char* p = data;
    while (size > 0) {
        const long done = syscall(SYS_write, fd, p, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            af_fail("cannot write", path, done == 0 ? ENOSPC : errno);
            break;
        }
        p += done;
        size -= (size_t)done;
    }
    syscall(SYS_close, fd);
}

void af_track_path(const af_thread* t, const af_track* track, char* path, size_t size) {
    const char* const folder = track == &t->skeleton ? AF_SKELETON_FOLDER : "";
    snprintf(path, size, "%s%s/stream-%04u.aft", af_shared->directory, folder, t->number);
}

void af_track_begin(af_thread* t, af_track* track) {
    af_stream_header header = {AF_STREAM_MAGIC, AF_VERSION, t->number, t->parent, 0};
    header.crc = af_crc(&af_shared->crc, 0, &header, offsetof(af_stream_header, crc));
    char path[4200];
    af_track_path(t, track, path, sizeof path);
    af_append(path, &header, sizeof header);
    track->record.parent = t->parent;
    track->record.bytes = sizeof header;
}

void af_snapshot_path(const af_thread* t, char* path, size_t size) {
    snprintf(path, size, "%s/warm-%04u.afw", af_shared->directory, t->number);
}
