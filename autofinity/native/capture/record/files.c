#include "capture/record/files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/state/text.h"

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

static void name_file(char* path, const char* name, const af_thread* t, const char* ending) {
    af_put_text(af_put_number(af_put_text(path, name), t->number, 4), ending);
}

void af_track_path(const af_thread* t, const af_track* track, char* path) {
    char* at = af_put_text(path, af_shared->directory);
    if (track == &t->skeleton) at = af_put_text(at, AF_SKELETON_FOLDER);
    name_file(at, "/stream-", t, ".aft");
}

void af_track_begin(af_thread* t, af_track* track) {
    af_stream_header header = {AF_STREAM_MAGIC, AF_VERSION, t->number, t->parent, 0};
    header.crc = af_crc(&af_shared->crc, 0, &header, offsetof(af_stream_header, crc));
    char* const path = af_spare(track->encoder);
    af_track_path(t, track, path);
    af_append(path, &header, sizeof header);
    track->record.parent = t->parent;
    track->record.bytes = sizeof header;
}

void af_snapshot_path(const af_thread* t, char* path) {
    name_file(af_put_text(path, af_shared->directory), "/warm-", t, ".afw");
}
