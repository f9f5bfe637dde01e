// Which Python: the one whose environment this executable was installed into.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

extern char** environ;

static bool executable(const char* path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

// The interpreter that pip wrote into a console script: `#!/path/python`, or, where that line would
// be too long or holds a space, `#!/bin/sh` and then `'''exec' "/path with space/python" "$0"
// "$@"`.
static bool interpreter_of(const char* script, char out[PATH_MAX]) {
    int fd = open(script, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    char text[2 * PATH_MAX];
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got < 3) return false;
    text[got] = '\0';
    if (strncmp(text, "#!", 2) != 0) return false;
    const char* from = text + 2;
    static const char shell[] = "/bin/sh\n'''exec' ";
    const char* stop = " \t\r\n";
    if (strncmp(from, shell, sizeof shell - 1) == 0) {
        from += sizeof shell - 1;
        if (*from == '"') {
            from++;
            stop = "\"\n";
        }
    }
    from += strspn(from, " ");
    size_t length = strcspn(from, stop);
    if (length == 0 || length >= PATH_MAX || from[0] != '/') return false;
    snprintf(out, PATH_MAX, "%.*s", (int)length, from);
    const char* base = strrchr(out, '/') + 1;
    return (strncmp(base, "python", 6) == 0 || strncmp(base, "pypy", 4) == 0) && executable(out);
}

static void beside(const char* folder, const char* name, char out[PATH_MAX]) {
    int wanted = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (wanted < 0 || wanted >= PATH_MAX || !executable(out)) out[0] = '\0';
}

void find_python(Python* out) {
    memset(out, 0, sizeof *out);
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        beside(folder, "autofinity-cli", out->script);
    }
#ifdef AUTOFINITY_SOURCE_DIR
    snprintf(out->root, PATH_MAX, "%s", AUTOFINITY_SOURCE_DIR);
#endif
    const char* wish = getenv("AUTOFINITY_PYTHON");
    if (wish && *wish) {
        if (executable(wish)) snprintf(out->interpreter, PATH_MAX, "%s", wish);
        return;  // a wrong wish is said, not replaced by something else
    }
    if (out->script[0] && interpreter_of(out->script, out->interpreter)) return;
    if (slash) beside(folder, "python3", out->interpreter);
    if (slash && !out->interpreter[0]) beside(folder, "python", out->interpreter);
}

// What belongs to the application and would steer or break the monitor's interpreter.
static bool is_harmful(const char* variable) {
    return strncmp(variable, "PYTHON", 6) == 0 || strncmp(variable, "LD_PRELOAD=", 11) == 0 ||
           strncmp(variable, "LD_AUDIT=", 9) == 0 || strncmp(variable, "MALLOC_", 7) == 0 ||
           strncmp(variable, "GLIBC_TUNABLES=", 15) == 0;
}

char** python_environment(const Python* python) {
    size_t count = 0;
    while (environ[count]) count++;
    char** copy = calloc(count + 3, sizeof *copy);
    if (!copy) return environ;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_harmful(environ[i])) copy[used++] = environ[i];
    }
    if (python->root[0]) {
        char* entry;
        if (asprintf(&entry, "PYTHONPATH=%s", python->root) > 0) copy[used++] = entry;
    }
    // One heap instead of one a thread: the monitor is to stay small.
    copy[used++] = "MALLOC_ARENA_MAX=1";
    return copy;
}
