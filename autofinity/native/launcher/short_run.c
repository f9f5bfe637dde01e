// The latest run that ended before its monitor had begun: it has no row in the database, so that
// `explain last` would explain the run before it. One small file beside the database names it:
//
//   autofinity-short-run 1
//   ENDED_NS PID
//   PATH
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

void keep_short_run(const State* state, const Program* program, pid_t pid) {
    char text[PATH_MAX + 80], made[PATH_MAX];
    struct timespec now;
    if (!state->short_run[0] || clock_gettime(CLOCK_REALTIME, &now) != 0) return;
    int bytes = snprintf(text, sizeof text, "autofinity-short-run 1\n%lld %d\n%s\n",
                         (long long)now.tv_sec * 1000000000 + now.tv_nsec, (int)pid, program->path);
    int wanted = snprintf(made, sizeof made, "%s.%d.tmp", state->short_run, (int)getpid());
    if (bytes >= (int)sizeof text || wanted >= (int)sizeof made) return;
    int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return;  // there is no state folder yet
    bool whole = write(fd, text, (size_t)bytes) == bytes;
    close(fd);
    if (!whole || rename(made, state->short_run) != 0) unlink(made);
}
