// Is this file a policy? The monitor prints nothing once the application runs, so what can be seen
// to be wrong beforehand is seen here: unreadable, no JSON, no policy, a newer version.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { LARGEST = 16 << 20, DEEPEST = 64, NEWEST_VERSION = 4 };

// A recognizer of JSON (RFC 8259). It notes which keys the outermost object has.
typedef struct {
    const char *at, *end;
    bool rules, standard;  // "rules" and "default" are there
    double version;        // NaN-free: -1 when absent
} Json;

static void skip_space(Json* json) {
    while (json->at < json->end && *json->at && strchr(" \t\r\n", *json->at)) json->at++;
}

static bool eat(Json* json, char what) {
    if (json->at >= json->end || *json->at != what) return false;
    json->at++;
    return true;
}

static bool word(Json* json, const char* what) {
    size_t length = strlen(what);
    if ((size_t)(json->end - json->at) < length || memcmp(json->at, what, length) != 0)
        return false;
    json->at += length;
    return true;
}

static bool string(Json* json) {
    if (!eat(json, '"')) return false;
    while (json->at < json->end && *json->at != '"') {
        if ((unsigned char)*json->at < ' ') return false;
        if (*json->at == '\\') json->at++;
        json->at++;
    }
    return eat(json, '"');
}

static bool digits(Json* json) {
    const char* from = json->at;
    while (json->at < json->end && *json->at >= '0' && *json->at <= '9') json->at++;
    return json->at > from;
}

static bool number(Json* json) {
    eat(json, '-');
    if (!digits(json)) return false;
    if (eat(json, '.') && !digits(json)) return false;
    if (json->at < json->end && (*json->at == 'e' || *json->at == 'E')) {
        json->at++;
        if (!eat(json, '+')) eat(json, '-');
        if (!digits(json)) return false;
    }
    return true;
}

static bool value(Json* json, int depth);

static bool members(Json* json, int depth) {
    skip_space(json);
    if (eat(json, '}')) return true;
    do {
        skip_space(json);
        const char* key = json->at;
        if (!string(json)) return false;
        size_t length = (size_t)(json->at - key);
        skip_space(json);
        if (!eat(json, ':')) return false;
        skip_space(json);
        if (depth == 1) {
            if (length == 7 && memcmp(key, "\"rules\"", 7) == 0) json->rules = true;
            if (length == 9 && memcmp(key, "\"default\"", 9) == 0) json->standard = true;
            if (length == 9 && memcmp(key, "\"version\"", 9) == 0)
                json->version = strtod(json->at, NULL);
        }
        if (!value(json, depth)) return false;
        skip_space(json);
    } while (eat(json, ','));
    return eat(json, '}');
}

static bool elements(Json* json, int depth) {
    skip_space(json);
    if (eat(json, ']')) return true;
    do {
        skip_space(json);
        if (!value(json, depth)) return false;
        skip_space(json);
    } while (eat(json, ','));
    return eat(json, ']');
}

static bool value(Json* json, int depth) {
    if (depth >= DEEPEST || json->at >= json->end) return false;
    switch (*json->at) {
        case '{':
            json->at++;
            return members(json, depth + 1);
        case '[':
            json->at++;
            return elements(json, depth + 1);
        case '"':
            return string(json);
        case 't':
            return word(json, "true");
        case 'f':
            return word(json, "false");
        case 'n':
            return word(json, "null");
        default:
            return number(json);
    }
}

static bool check_json(const char* text, size_t bytes, char reason[REASON_CHARS]) {
    Json json = {.at = text, .end = text + bytes, .version = -1};
    skip_space(&json);
    bool well_formed = value(&json, 0);
    skip_space(&json);
    if (!well_formed || json.at < json.end) {
        snprintf(reason, REASON_CHARS, "it is no JSON from byte %td on", json.at - text);
        return false;
    }
    if (!json.rules || !json.standard) {
        snprintf(reason, REASON_CHARS, "it is JSON without a policy's \"rules\" and \"default\"");
        return false;
    }
    if (json.version > NEWEST_VERSION) {
        snprintf(reason, REASON_CHARS, "it has version %g and this autofinity reads up to %d",
                 json.version, NEWEST_VERSION);
        return false;
    }
    return true;
}

bool check_policy_file(const char* path, char digest[DIGEST_CHARS + 1], char reason[REASON_CHARS]) {
    // O_NONBLOCK: a FIFO in the file's place must not hold the application up.
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
    bool good = check_json(text, used, reason);
    if (good) {
        Sha256 hash;
        sha256_init(&hash);
        sha256_add(&hash, text, used);
        sha256_hex(&hash, digest);
    }
    free(text);
    return good;
}
