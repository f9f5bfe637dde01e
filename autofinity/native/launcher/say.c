// One line on stderr, at no risk to the application.
//
// A plain write could kill or stop us before the application exists: SIGPIPE (reader gone), SIGXFSZ
// (file-size limit), SIGTTOU (background job on a `stty tostop` terminal), or block on a full pipe.
// So: poll first, block the three signals during the write, and take signals that became pending
// because of it, so that the application inherits neither a changed mask nor a pending signal.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
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
        (void)written;  // there is no other way to report
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

// Code points that a terminal obeys, or that hide or reorder other text: controls, marks of
// direction, separators, and characters without width.
static bool is_unsafe(uint32_t point) {
    static const uint32_t ranges[][2] = {
        {0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},       {0x61c, 0x61c},
        {0x180e, 0x180e}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x206f},
        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (point >= ranges[i][0] && point <= ranges[i][1]) return true;
    }
    return false;
}

// Bytes of the character at `text`; 0: it is no UTF-8 (RFC 3629).
static size_t decode(const unsigned char* text, size_t bytes, uint32_t* point) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t wanted = text[0] < 0x80   ? 1
                    : text[0] < 0xc0 ? 0
                    : text[0] < 0xe0 ? 2
                    : text[0] < 0xf0 ? 3
                    : text[0] < 0xf8 ? 4
                                     : 0;
    if (wanted == 0 || wanted > bytes) return 0;
    *point = wanted == 1 ? text[0] : text[0] & (0x7fu >> wanted);
    for (size_t i = 1; i < wanted; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        *point = *point << 6 | (text[i] & 0x3f);
    }
    bool surrogate = *point >= 0xd800 && *point < 0xe000;
    return *point < least[wanted] || *point > 0x10ffff || surrogate ? 0 : wanted;
}

void make_plain(char* text, size_t bytes) {
    for (size_t i = 0; i < bytes;) {
        uint32_t point = 0;
        size_t wide = decode((const unsigned char*)text + i, bytes - i, &point);
        size_t taken = wide ? wide : 1;
        // A byte that is not UTF-8 may be a control character where the terminal does not use
        // UTF-8.
        if (!wide || is_unsafe(point)) memset(text + i, '?', taken);
        i += taken;
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
        // nobody is left to notify
    }
    va_end(arguments);
}
