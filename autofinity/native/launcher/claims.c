// Cores that other live runs hold, as a monitor writes them beside the behaviour database:
//
//   autofinity-claims 2
//   BOOT PID_NAMESPACE PID START_TICKS CPULIST
//
// The database has the claims themselves; this is a copy for the launcher, which has no SQLite.
// Lines of another host, of a process that has ended, or with a pid that another process has now,
// are ignored.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "launcher.h"

enum { STAT_CHARS = 1024, START_FIELD = 22 };

// Clock ticks by which times since boot are ahead in this time namespace, as in
// `linux/time_namespace.py`.
static long long shift_ticks(void) {
    struct stat ours, told;
    long long seconds = 0, nanoseconds = 0;
    if (stat("/proc/self/ns/time", &ours) != 0 ||
        stat("/proc/self/ns/time_for_children", &told) != 0 || ours.st_ino != told.st_ino) {
        return 0;
    }
    FILE* file = fopen("/proc/self/timens_offsets", "re");
    if (!file) return 0;
    char line[128];
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "boottime %lld %lld", &seconds, &nanoseconds) == 2) break;
    }
    fclose(file);
    long long per_s = sysconf(_SC_CLK_TCK);
    // The nanoseconds are never negative, and the seconds are whole.
    return seconds * per_s + nanoseconds * per_s / 1000000000;
}

// Start time of a process, in clock ticks since boot in every time namespace; 0: there is no such
// process.
static unsigned long long start_ticks(int pid) {
    char path[32], text[STAT_CHARS];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE* file = fopen(path, "re");
    if (!file) return 0;
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    const char* at = strrchr(text, ')');  // the name before it may hold anything
    for (int field = 2; at && field < START_FIELD; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) - (unsigned long long)shift_ticks() : 0;
}

// The host within which pids have our meaning ("BOOT PID_NAMESPACE "), as in `linux/identity.py`.
static size_t this_host(char* out, size_t size) {
    char boot[sizeof((struct utsname*)0)->nodename + 1] = "";
    struct utsname host;
    struct stat namespace = {0};
    FILE* file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file) {
        if (fscanf(file, "%63s", boot) != 1) boot[0] = '\0';
        fclose(file);
    }
    if (!boot[0] && uname(&host) == 0) snprintf(boot, sizeof boot, "@%s", host.nodename);
    if (stat("/proc/self/ns/pid", &namespace) != 0) namespace.st_ino = 0;
    return (size_t)snprintf(out, size, "%s %lu ", boot, (unsigned long)namespace.st_ino);
}

bool claimed_by_others(const State* state, const CpuSet* set) {
    char* text = read_private(state->claims, "autofinity-claims 2\n");
    if (!text) return false;
    char host[128];
    size_t host_chars = this_host(host, sizeof host);
    bool found = false;
    const char* line = text;
    while (!found && (line = strchr(line, '\n')) && *++line) {
        int pid;
        unsigned long long ticks;
        char list[4096];
        CpuSet cpus;
        found = strncmp(line, host, host_chars) == 0 &&
                sscanf(line + host_chars, "%d %llu %4095[0-9,-]", &pid, &ticks, list) == 3 &&
                ticks && cpuset_parse(list, &cpus) && cpuset_overlap(&cpus, set) &&
                start_ticks(pid) == ticks;
    }
    free(text);
    return found;
}
