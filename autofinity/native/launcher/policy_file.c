// Checks whether a file is a policy. The monitor reads it field by field. Since nothing is printed
// after the application starts, the launcher checks here that the file can be read, has a known
// version and is whole.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { LARGEST = 16 << 20, NEWEST_VERSION = 7 };

// The value after a key and its colon; NULL: the word is no key here.
static const char* value_after(const char* key_end) {
    static const char space[] = " \t\r\n";
    key_end += strspn(key_end, space);
    return *key_end == ':' ? key_end + 1 + strspn(key_end + 1, space) : NULL;
}

// The number after the first "version" that has one; -1: there is none.
static long version_of(const char* text) {
    static const char key[] = "\"version\"";
    const char* at = text;
    while ((at = strstr(at, key)) != NULL) {
        at += sizeof key - 1;
        const char* value = value_after(at);
        if (value && *value >= '0' && *value <= '9') return strtol(value, NULL, 10);
    }
    return -1;
}

static bool check_text(const char* text, size_t bytes, char reason[REASON_CHARS]) {
    long version = version_of(text);
    if (bytes == 0) {
        snprintf(reason, REASON_CHARS, "it is empty");
    } else if (version < 0) {
        snprintf(reason, REASON_CHARS, "it is no policy: it names no version");
    } else if (version > NEWEST_VERSION) {
        snprintf(reason, REASON_CHARS, "it has version %ld and this autofinity reads up to %d",
                 version, NEWEST_VERSION);
    } else {
        int line = broken_line(text, bytes);
        if (line == 0) return true;
        snprintf(reason, REASON_CHARS, "it is no whole policy: line %d", line);
    }
    return false;
}

// Whether a rule has a condition: a key "when" whose list is not empty.
static bool has_conditions(const char* text) {
    static const char key[] = "\"when\"";
    for (const char* at = text; (at = strstr(at, key)) != NULL;) {
        at += sizeof key - 1;
        const char* list = value_after(at);
        if (list && *list == '[' && list[1 + strspn(list + 1, " \t\r\n")] == '{') return true;
    }
    return false;
}

// Whether its counters, the first list of that name, have one that /proc counts (`SOFTWARE_EVENTS`
// of linux/thread_roll.py).
static bool has_software_counters(const char* text) {
    static const char key[] = "\"counters\"";
    static const char* const names[] = {"\"task_clock_ns\"", "\"run_delay_ns\"", "\"page_faults\"",
                                        "\"context_switches\"", "\"preemptions\""};
    const char* found = strstr(text, key);
    const char* list = found ? value_after(found + sizeof key - 1) : NULL;
    const char* end = list && *list == '[' ? strchr(list, ']') : NULL;
    for (size_t i = 0; end && i < sizeof names / sizeof names[0]; i++) {
        const char* name = strstr(list, names[i]);
        if (name && name < end) return true;
    }
    return false;
}

static enum Asks what_it_asks(const char* text) {
    if (!has_conditions(text)) return ASKS_NOTHING;
    return has_software_counters(text) ? ASKS_SOFTWARE : ASKS_HARDWARE;
}

bool check_policy_file(const char* path, char digest[DIGEST_CHARS + 1], enum Asks* asks,
                       char reason[REASON_CHARS]) {
    // O_NONBLOCK: a FIFO in the file's place must not block the application.
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0) {
        snprintf(reason, REASON_CHARS, "%s", strerror(errno));
        if (fd >= 0) close(fd);
        return false;
    }
    if (!S_ISREG(info.st_mode) || info.st_size > LARGEST) {
        snprintf(reason, REASON_CHARS, "it is no regular file of at most 16 MiB");
        close(fd);
        return false;
    }
    size_t room = (size_t)info.st_size;
    char* text = malloc(room + 1);
    size_t used = 0;
    ssize_t got = -1;
    while (text && used < room && (got = read(fd, text + used, room - used)) > 0)
        used += (size_t)got;
    close(fd);
    if (!text || (got < 0 && room > 0)) {
        snprintf(reason, REASON_CHARS, "it cannot be read: %s", strerror(errno));
        free(text);
        return false;
    }
    text[used] = '\0';
    bool good = check_text(text, used, reason);
    if (good) {
        *asks = what_it_asks(text);
        Sha256 hash;
        sha256_init(&hash);
        sha256_add(&hash, text, used);
        sha256_hex(&hash, digest);
    }
    free(text);
    return good;
}
