// Files that nobody but their user can have written: the behaviour database and what lies beside
// it. Masks are set by what they say. `autofinity/private_file.py` has the same rules.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { LARGEST_BYTES = 8 << 20 };

// A group with the number of its user is that user's own: many systems let it write.
static bool writable_by_others(const struct stat* info) {
    return (info->st_mode & S_IWOTH) || ((info->st_mode & S_IWGRP) && info->st_gid != info->st_uid);
}

static bool is_foreign(const struct stat* info, const char* before, char reason[REASON_CHARS]) {
    if (info->st_uid != geteuid()) {
        snprintf(reason, REASON_CHARS, "%sit is another user's (uid %u)", before, info->st_uid);
        return true;
    }
    if (!writable_by_others(info)) return false;
    snprintf(reason, REASON_CHARS, "%sothers may write it (mode %o)", before,
             info->st_mode & 07777u);
    return true;
}

static bool is_flawed(const struct stat* info, const char* before, char reason[REASON_CHARS]) {
    if (S_ISREG(info->st_mode)) return is_foreign(info, before, reason);
    snprintf(reason, REASON_CHARS, "%s%s", before,
             S_ISLNK(info->st_mode) ? "it is a link" : "it is no regular file");
    return true;
}

bool file_is_ours(const char* path, const char* before, char reason[REASON_CHARS]) {
    struct stat info;
    return lstat(path, &info) != 0 || !is_flawed(&info, before, reason);
}

bool folder_is_ours(const char* path, char reason[REASON_CHARS]) {
    struct stat info;
    if (stat(path, &info) != 0) return true;  // the monitor makes it
    return (info.st_uid == 0 && !writable_by_others(&info)) ||
           !is_foreign(&info, "its folder is not private: ", reason);
}

// The rest of a file, to be freed; NULL when it is longer than that or cannot be read.
static char* read_rest(int fd, size_t most) {
    char* text = malloc(most + 1);
    size_t used = 0;
    ssize_t got = text ? 1 : -1;
    while (got > 0 && used <= most) {
        got = read(fd, text + used, most + 1 - used);
        if (got > 0) used += (size_t)got;
    }
    if (got == 0 && used <= most) {
        text[used] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

char* read_private(const char* path, const char* head) {
    if (!path[0]) return NULL;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) return NULL;
    struct stat info;
    char reason[REASON_CHARS];
    char* text = NULL;
    if (fstat(fd, &info) == 0 && !is_flawed(&info, "", reason) && info.st_size <= LARGEST_BYTES) {
        text = read_rest(fd, (size_t)info.st_size);
    }
    close(fd);
    if (text && strncmp(text, head, strlen(head)) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}
