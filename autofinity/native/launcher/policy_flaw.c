// Why a policy file cannot be used, in the words of who reads policies: Python is asked once it is
// known that the file is damaged, never before a run that has a good one.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

enum { PATIENCE_MS = 10000 };

static void become_reader(const Python* python, const char* path, int out) {
    const char* words[PYTHON_WORDS + 2];
    python_command(python, "autofinity.cli.policy_flaw", false, words);
    int n = 0;
    while (words[n]) n++;
    words[n++] = path;
    words[n] = NULL;
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0) {
        _exit(1);
    }
    execve(words[0], (char* const*)words, python_environment(python, true, ""));
    _exit(1);
}

// Reads to the end, or to the end of the room or of patience; returns the number of bytes.
static size_t answer_of(int from, char* out, size_t room) {
    struct pollfd ready = {.fd = from, .events = POLLIN};
    size_t used = 0;
    while (used < room) {
        int came = poll(&ready, 1, PATIENCE_MS);
        if (came < 0 && errno == EINTR) continue;
        ssize_t got = came > 0 ? read(from, out + used, room - used) : 0;
        if (got <= 0) break;
        used += (size_t)got;
    }
    return used;
}

bool policy_flaw(const Python* python, const char* path, char out[FLAW_CHARS]) {
    int pipe_fds[2];
    if (!python->interpreter[0] || pipe2(pipe_fds, O_CLOEXEC) != 0) return false;
    pid_t reader = fork();
    if (reader == 0) become_reader(python, path, pipe_fds[1]);
    close(pipe_fds[1]);
    size_t used = reader > 0 ? answer_of(pipe_fds[0], out, FLAW_CHARS - 1) : 0;
    close(pipe_fds[0]);
    if (reader > 0) {
        kill(reader, SIGKILL);
        while (waitpid(reader, NULL, 0) < 0 && errno == EINTR) continue;
    }
    while (used > 0 && out[used - 1] == '\n') used--;
    out[used] = '\0';
    return used > 0;
}
