// One line on stderr, at no risk to the application.
//
// A plain write could kill or stop us before the application exists: SIGPIPE (reader gone), SIGXFSZ
// (file-size limit), SIGTTOU (background job on a `stty tostop` terminal), or block on a full pipe.
// So: poll first, block the three signals for the length of the write, and take what came pending
// because of it, so that the application inherits neither a changed mask nor a pending signal.
#include <errno.h>
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

void say_init(bool quiet) {
    silent = quiet || (fcntl(STDERR_FILENO, F_GETFD) < 0 && errno == EBADF);
}

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
    sigset_t now_pending;
    sigpending(&now_pending);
    for (size_t i = 0; i < sizeof raised / sizeof raised[0]; i++) {
        if (sigismember(&pending, raised[i]) || !sigismember(&now_pending, raised[i])) continue;
        sigset_t one;
        sigemptyset(&one);
        sigaddset(&one, raised[i]);
        struct timespec now = {0, 0};
        sigtimedwait(&one, NULL, &now);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void make_plain(char* text, size_t bytes) {
    unsigned char before = ' ';
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        // From 128 to 159 are control characters in one byte, and in UTF-8 behind 194; behind other
        // bytes of UTF-8 they are parts of letters.
        bool control = byte < ' ' || byte == 127;
        bool wide = byte >= 128 && byte < 160 && (before < 128 || before == 194);
        if (control || wide) text[i] = '?';
        if (wide && before == 194) text[i - 1] = '?';
        before = byte;
    }
}

typedef struct {
    char text[2048];
    size_t used;
} Line;

__attribute__((format(printf, 2, 0))) static bool make_line(Line* line, const char* format,
                                                            va_list arguments) {
    static const char prefix[] = "autofinity: ";
    size_t used = sizeof prefix - 1, room = sizeof line->text - sizeof prefix;
    memcpy(line->text, prefix, used);
    int wanted = vsnprintf(line->text + used, room, format, arguments);
    if (wanted < 0) return false;
    used += (size_t)wanted < room ? (size_t)wanted : room - 1;
    make_plain(line->text, used);
    line->text[used++] = '\n';
    line->used = used;
    return true;
}

void say(const char* format, ...) {
    if (silent) return;
    Line line;
    va_list arguments;
    va_start(arguments, format);
    if (make_line(&line, format, arguments)) write_unharmed(line.text, line.used);
    va_end(arguments);
}

void say_bluntly(const char* format, ...) {
    Line line;
    va_list arguments;
    va_start(arguments, format);
    alarm(1);
    if (make_line(&line, format, arguments) && write(STDERR_FILENO, line.text, line.used) < 0) {
        // there is nobody left to tell
    }
    va_end(arguments);
}
