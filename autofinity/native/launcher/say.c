// One line on stderr, at no risk to the application.
//
// A plain write could kill or stop us before the application exists: SIGPIPE (reader gone), SIGXFSZ
// (file-size limit), SIGTTOU (background job on a `stty tostop` terminal), or block on a full pipe.
// So: poll first, block the three signals for the length of the write, and take what came pending
// because of it, so that the application inherits neither a changed mask nor a pending signal.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

static bool silent = true;

void say_init(bool quiet) { silent = quiet || fcntl(STDERR_FILENO, F_GETFD) < 0; }

static void write_unharmed(const char* text, size_t bytes) {
    sigset_t ours, before, pending;
    sigemptyset(&ours);
    sigaddset(&ours, SIGPIPE);
    sigaddset(&ours, SIGXFSZ);
    sigaddset(&ours, SIGTTOU);
    sigpending(&pending);
    if (sigprocmask(SIG_BLOCK, &ours, &before) != 0) return;
    struct pollfd ready = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT)) {
        ssize_t written = write(STDERR_FILENO, text, bytes);
        (void)written;  // there is nobody left to tell
    }
    static const int raised[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++) {
        if (sigismember(&pending, raised[i])) continue;
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, raised[i]);
        struct timespec now = {0, 0};
        sigtimedwait(&one, NULL, &now);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void say(const char* format, ...) {
    if (silent) return;
    char line[2048] = "autofinity: ";
    size_t used = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    if (wanted < 0) return;
    used += (size_t)wanted < sizeof line - used - 1 ? (size_t)wanted : sizeof line - used - 2;
    // A program's name may hold line breaks and control characters; the line stays one line.
    for (size_t i = 0; i < used; i++) {
        if ((unsigned char)line[i] < ' ' || line[i] == 127) line[i] = '?';
    }
    line[used++] = '\n';
    write_unharmed(line, used);
}
