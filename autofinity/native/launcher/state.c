// The state folder: where the behaviour database is, and the decisions made from it that are looked
// up before exec (so that the first touch of a known program is already right).
//
// The decision cache is a text file that a monitor rewrites, by rename, after each decision:
//
//   autofinity-decisions 3
//   KEY THREADS POLICY_DIGEST llc|core MACHINE HINT ALLOWED_CPULIST MASK_CPULIST SEATS
//
// SEATS are masks of threads as they are created (`creation.c`), or "-". The key "-" stands for any
// program that is not known.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

enum { SCHEMA_VERSION = 8 };

static bool put(char out[PATH_MAX], const char* folder, const char* name) {
    int wanted = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (wanted > 0 && wanted < PATH_MAX) return true;
    out[0] = '\0';
    return false;
}

void find_state(const Options* options, State* out) {
    memset(out, 0, sizeof *out);
    char folder[PATH_MAX];
    trying("getcwd");
    if (options->db) {
        char here[PATH_MAX];
        if (options->db[0] == '/') {
            snprintf(out->db, PATH_MAX, "%s", options->db);
        } else if (!getcwd(here, sizeof here) || !put(out->db, here, options->db)) {
            out->db[0] = '\0';
            return;
        }
        snprintf(folder, sizeof folder, "%s", out->db);
        char* slash = strrchr(folder, '/');
        if (slash) *slash = '\0';
    } else {
        // A relative XDG_STATE_HOME does not count (XDG base directory specification).
        const char* state = getenv("XDG_STATE_HOME");
        const char* home = getenv("HOME");
        if (state && state[0] == '/') {
            if (!put(folder, state, "autofinity")) return;
        } else if (!home || home[0] != '/' || !put(folder, home, ".local/state/autofinity")) {
            return;
        }
        if (!put(out->db, folder, "behaviour.db")) return;
    }
    size_t size = sizeof out->short_run;
    int length = snprintf(out->short_run, size, "%s.short-run", out->db);
    if (!put(out->decisions, folder, "decisions") || !put(out->claims, folder, "claims") ||
        length < 0 || (size_t)length >= size) {
        out->db[0] = '\0';
    }
}

// The first folder of `path` that exists is writable: the monitor can make the rest.
static bool folder_writable(const char* path) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    while (true) {
        char* slash = strrchr(folder, '/');
        if (!slash) return false;
        *slash = '\0';
        if (access(*folder ? folder : "/", F_OK) == 0)
            return access(*folder ? folder : "/", W_OK) == 0;
    }
}

// Whether neither the database nor the files that SQLite keeps beside it can be another user's.
static bool is_private(const State* state, char reason[REASON_CHARS]) {
    static const char* const suffixes[] = {"-journal", "-wal", "-shm"};
    char path[PATH_MAX], before[PATH_MAX];
    snprintf(path, sizeof path, "%s", state->db);
    char* slash = strrchr(path, '/');
    const char* name = slash ? slash + 1 : path;
    if (slash) *slash = '\0';
    if (!folder_is_ours(*path ? path : "/", reason) || !file_is_ours(state->db, "", reason)) {
        return false;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char beside[PATH_MAX];
        int wanted = snprintf(beside, sizeof beside, "%s%s", state->db, suffixes[i]);
        snprintf(before, sizeof before, "of its file %.200s%s, ", name, suffixes[i]);
        if (wanted >= PATH_MAX || !file_is_ours(beside, before, reason)) return false;
    }
    return true;
}

bool check_database(const State* state, char reason[REASON_CHARS]) {
    if (!state->db[0]) {
        snprintf(reason, REASON_CHARS,
                 "no state folder: neither XDG_STATE_HOME nor HOME names one; set one of them, or "
                 "name a database with --db");
        return false;
    }
    if (!is_private(state, reason)) return false;
    struct stat info;
    unsigned char head[100] = {0};
    ssize_t got = 0;
    if (stat(state->db, &info) != 0) {
        if (errno == ENOENT && folder_writable(state->db)) return true;  // the monitor makes it
        snprintf(reason, REASON_CHARS, "%s",
                 errno == ENOENT ? "its folder is not writable" : strerror(errno));
        return false;
    }
    if (access(state->db, R_OK | W_OK) != 0 || !folder_writable(state->db)) {
        snprintf(reason, REASON_CHARS, "it is not writable");
        return false;
    }
    int fd = open(state->db, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        got = pread(fd, head, sizeof head, 0);
        close(fd);
    }
    if (got == 0) return true;  // empty: a fresh database
    if (got < (ssize_t)sizeof head || memcmp(head, "SQLite format 3", 16) != 0) {
        snprintf(reason, REASON_CHARS,
                 "it is damaged (no SQLite database); move it away to start a new one");
        return false;
    }
    uint32_t version = (uint32_t)head[60] << 24 | (uint32_t)head[61] << 16 |
                       (uint32_t)head[62] << 8 | head[63];  // PRAGMA user_version
    if (version > SCHEMA_VERSION) {
        snprintf(reason, REASON_CHARS, "it has schema %u and this autofinity knows up to %d",
                 version, SCHEMA_VERSION);
        return false;
    }
    return true;
}

bool find_decision(const State* state, const char* key, int threads, const char* policy_digest,
                   const char* bind, const CpuSet* allowed, Known* out) {
    char* text = read_private(state->decisions, "autofinity-decisions 3\n");
    if (!text) return false;
    char wanted[2 * DIGEST_CHARS + MACHINE_CHARS + 64], machine[MACHINE_CHARS + 1];
    snprintf(wanted, sizeof wanted, "\n%s %d %s %s ", key, threads, policy_digest, bind);
    const char* line = strstr(text, wanted);
    if (line) {  // on one kind of machine at least
        machine_key(machine);
        strcat(strcat(wanted, machine), " ");
        line = strstr(line, wanted);
    }
    bool found = false;
    if (line) {
        char was_allowed[sizeof out->list];
        CpuSet then;
        found =
            sscanf(line + strlen(wanted), "%3[SsLlPp] %4095[0-9,-] %4095[0-9,-] %16383[0-9,;*-]\n",
                   out->hint, was_allowed, out->list, out->seats) == 4 &&
            is_hint(out->hint) && cpuset_parse(was_allowed, &then) &&
            cpuset_parse(out->list, &out->set) && cpuset_equal(&then, allowed) &&
            cpuset_within(&out->set, allowed) &&
            // With fewer CPUs than threads, a runtime that counts CPUs would start fewer
            // threads.
            cpuset_count(&out->set) >= threads;
    }
    free(text);
    if (!found || strcmp(out->seats, "-") == 0) out->seats[0] = '\0';
    out->seated = count_seats(out->seats, allowed);
    return found;
}

bool find_starting_seats(const State* state, int threads, const char* bind, const CpuSet* allowed,
                         Known* out) {
    return find_decision(state, "-", threads, "-", bind, allowed, out) && out->seated == threads;
}
