// The CPU's name in /proc/cpuinfo; `linux/cpu_model.py` finds the same.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

enum { FIRST_CPU_BYTES = 8192 };

// Up to the end of the line, with one space between words.
static void single_spaced(const char* from, char out[MODEL_CHARS]) {
    size_t used = 0;
    while (true) {
        from += strspn(from, " \t\r");
        size_t length = strcspn(from, " \t\r\n");
        if (length == 0 || used + length + 2 > MODEL_CHARS) break;
        if (used) out[used++] = ' ';
        memcpy(out + used, from, length);
        used += length;
        from += length;
    }
    out[used] = '\0';
}

// The value of a line "NAME : VALUE"; NULL: the line has another name.
static const char* value_of(const char* line, const char* name) {
    size_t length = strlen(name);
    if (strncmp(line, name, length) != 0) return NULL;
    line += length + strspn(line + length, " \t");
    return *line == ':' ? line + 1 : NULL;
}

void cpu_model(char out[MODEL_CHARS]) {
    static const char* const names[] = {"model name", "CPU implementer", "CPU part"};
    char text[FIRST_CPU_BYTES + 1], found[3][MODEL_CHARS] = {"", "", ""};
    const char* path = getenv("AUTOFINITY_CPUINFO");
    int fd = open(path && *path ? path : "/proc/cpuinfo", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t got, used = 0;
    // The kernel reports a few CPUs at a time; hundreds take milliseconds.
    while (fd >= 0 && used < FIRST_CPU_BYTES &&
           (got = read(fd, text + used, (size_t)(FIRST_CPU_BYTES - used))) > 0)
        used += got;
    if (fd >= 0) close(fd);
    text[used] = '\0';
    for (const char* line = text; *line && *line != '\n'; line++) {
        for (size_t i = 0; i < 3; i++) {
            const char* value = value_of(line, names[i]);
            if (value && !found[i][0]) single_spaced(value, found[i]);
        }
        line = strchr(line, '\n');
        if (!line) break;
    }
    if (found[0][0]) {
        memcpy(out, found[0], MODEL_CHARS);
    } else {
        int wanted = snprintf(out, MODEL_CHARS, "%s%s%s", found[1],
                              found[1][0] && found[2][0] ? " " : "", found[2]);
        if (wanted >= MODEL_CHARS) out[0] = '\0';
    }
}
