// Files that only their user can have written: the behaviour database and the files beside it.
// Masks are set by their content. `autofinity/private_file.py` has the same rules.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { LARGEST_BYTES = 8 << 20, MOST_LINKS = 40 };  // as many as Linux follows

// A group with the number of its user is that user's own: many systems give it write permission.
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

// Removes the first name from `ahead`; an empty name at the end.
static char* next_name(char** ahead) {
    char* name = *ahead + strspn(*ahead, "/");
    char* end = name + strcspn(name, "/");
    *ahead = *end ? end + 1 : end;
    *end = '\0';
    return name;
}

// Puts the target of a link at `here` before the rest of `ahead`, inside `folder` or the root.
static bool follow(const char* here, char folder[PATH_MAX], char** ahead, char buffer[PATH_MAX]) {
    char target[PATH_MAX], rest[PATH_MAX];
    ssize_t got = readlink(here, target, sizeof target - 1);
    if (got <= 0) return false;
    target[got] = '\0';
    snprintf(rest, sizeof rest, "%s", *ahead);
    int wanted = snprintf(buffer, PATH_MAX, "%s/%s", target, rest);
    if (target[0] == '/') folder[0] = '\0';
    *ahead = buffer;
    return wanted < PATH_MAX;
}

typedef enum { THERE, MISSING, FOREIGN_LINK, UNKNOWN } Way;

// `info`: of the last existing folder on the way to `path`, or of a link of another user's.
static Way go(const char* path, struct stat* info) {
    char folder[PATH_MAX] = "", buffer[PATH_MAX], here[PATH_MAX];
    char* ahead = buffer;
    int links = 0;
    snprintf(buffer, sizeof buffer, "%s", path);
    for (char* name; *(name = next_name(&ahead));) {
        if (!strcmp(name, ".")) continue;
        if (!strcmp(name, "..")) {
            char* slash = strrchr(folder, '/');
            if (slash) *slash = '\0';
            continue;
        }
        if (snprintf(here, sizeof here, "%s/%s", folder, name) >= PATH_MAX) return UNKNOWN;
        if (lstat(here, info) != 0) {
            bool missing = errno == ENOENT;
            return missing && stat(*folder ? folder : "/", info) == 0 ? MISSING : UNKNOWN;
        }
        if (!S_ISLNK(info->st_mode)) {
            memcpy(folder, here, sizeof folder);
        } else if (info->st_uid != geteuid() && info->st_uid != 0) {
            return FOREIGN_LINK;
        } else if (++links > MOST_LINKS || !follow(here, folder, &ahead, buffer)) {
            return UNKNOWN;
        }
    }
    return stat(*folder ? folder : "/", info) == 0 ? THERE : UNKNOWN;
}

bool folder_is_ours(const char* path, char reason[REASON_CHARS]) {
    static const char before[] = "its folder is not private: ";
    struct stat info;
    Way way = go(path, &info);
    if (way == THERE) {
        return (info.st_uid == 0 && !writable_by_others(&info)) ||
               !is_foreign(&info, before, reason);
    }
    // The monitor makes a missing file; later users report why a file of unknown state cannot be
    // used.
    bool trusted = way == MISSING && (info.st_uid == geteuid() || info.st_uid == 0);
    if (way == UNKNOWN || trusted) return true;
    snprintf(reason, REASON_CHARS, "%sa %s it is another user's (uid %u)", before,
             way == MISSING ? "folder above" : "link to", info.st_uid);
    return false;
}

// The rest of a file, to be freed; NULL when it is longer than `most` or cannot be read.
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
