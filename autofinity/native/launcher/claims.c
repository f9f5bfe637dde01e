// Cores that other live runs hold, as a monitor writes them beside the behaviour database:
//
//   autofinity-claims 1
//   PID START_TICKS CPULIST
//
// The database has the claims themselves; this is a copy for us, who have no SQLite. A line whose
// process has ended, or whose pid is another one's by now, counts for nothing.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"

enum { STAT_CHARS = 1024, START_FIELD = 22 };

// When a process began, in clock ticks since boot; 0: there is none.
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
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

bool claimed_by_others(const State* state, const CpuSet* set) {
    char* text = read_private(state->claims, "autofinity-claims 1\n");
    if (!text) return false;
    bool found = false;
    const char* line = text;
    while (!found && (line = strchr(line, '\n')) && *++line) {
        int pid;
        unsigned long long ticks;
        char list[4096];
        CpuSet cpus;
        found = sscanf(line, "%d %llu %4095[0-9,-]", &pid, &ticks, list) == 3 && ticks &&
                cpuset_parse(list, &cpus) && cpuset_overlap(&cpus, set) &&
                start_ticks(pid) == ticks;
    }
    free(text);
    return found;
}
