// Finds the Python whose environment this executable was installed into.
#include <fcntl.h>
#include <glob.h>
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

// A path as a pattern that only this path fits.
static void as_pattern(const char* path, char out[2 * PATH_MAX]) {
    for (; *path; *out++ = *path++) {
        if (strchr("*?[\\", *path)) *out++ = '\\';
    }
    *out = '\0';
}

static bool find_package_by(const char* folder, const char* lib, const char* version,
                            const char* packages, Python* out) {
    char around[2 * PATH_MAX], pattern[4 * PATH_MAX];
    as_pattern(folder, around);
    snprintf(pattern, sizeof pattern, "%s/%s%s%s/autofinity/own_python.py", around, lib, version,
             packages);
    glob_t hits = {0};
    bool found = glob(pattern, 0, NULL, &hits) == 0 && strlen(hits.gl_pathv[0]) < PATH_MAX;
    if (found) {
        snprintf(out->package, PATH_MAX, "%s", hits.gl_pathv[0]);
        *strrchr(out->package, '/') = '\0';
    }
    globfree(&hits);
    return found;
}

// Finds the package in a Python environment, seen from the folder of the executable. The
// environment may serve several Pythons: the interpreter's own version comes first.
static void find_package(const char* folder, Python* out) {
    static const char* const places[][2] = {
        {"../lib/", "/site-packages"},
        {"../lib64/", "/site-packages"},
        {"../lib/", "/dist-packages"},
    };
    char real[PATH_MAX];
    const char* version = realpath(out->interpreter, real) ? strrchr(real, '/') + 1 : "";
    const char* const versions[] = {version, "python3*"};
    for (size_t i = strncmp(version, "python3.", 8) == 0 ? 0 : 1; i < 2; i++) {
        for (size_t j = 0; j < sizeof places / sizeof places[0]; j++) {
            if (find_package_by(folder, places[j][0], versions[i], places[j][1], out)) return;
        }
    }
    find_package_by(folder, "..", "", "", out);  // pip install --target
}

// The path from the root, since a monitor leaves this folder; links stay, by which a Python knows
// its environment.
static void from_root(const char* path, char out[PATH_MAX]) {
    char here[PATH_MAX];
    bool whole = path[0] == '/';
    if (!whole && !getcwd(here, sizeof here)) return;
    int wanted = snprintf(out, PATH_MAX, "%s%s%s", whole ? "" : here, whole ? "" : "/", path);
    if (wanted >= PATH_MAX) out[0] = '\0';
}

static void find_interpreter(const char* folder, Python* out) {
    const char* wish = getenv("AUTOFINITY_PYTHON");
    if (wish && *wish) {
        if (executable(wish)) from_root(wish, out->interpreter);
        return;  // a wrong wish is reported, not replaced
    }
    if (out->script[0] && interpreter_of(out->script, out->interpreter)) return;
    if (folder[0]) beside(folder, "python3", out->interpreter);
    if (folder[0] && !out->interpreter[0]) beside(folder, "python", out->interpreter);
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
    find_interpreter(slash ? folder : "", out);
#ifdef AUTOFINITY_SOURCE_DIR
    snprintf(out->package, PATH_MAX, "%s/autofinity", AUTOFINITY_SOURCE_DIR);
#else
    if (slash) find_package(folder, out);
#endif
}

void python_command(const Python* python, const char* module, bool compile,
                    const char* words[PYTHON_WORDS]) {
    static char script[PATH_MAX + 32];
    snprintf(script, sizeof script, "%s/own_python.py", python->package);
    int n = 0;
    words[n++] = python->interpreter;
    words[n++] = "-I";
    if (!compile) words[n++] = "-B";
    words[n++] = python->package[0] ? script : "-m";
    words[n++] = module;
    words[n] = NULL;
}

// Whether a variable belongs to the application and would steer or break our interpreter.
static bool steers(const char* variable) {
    static const char* const names[] = {
        "LD_LIBRARY_PATH=", "LD_PRELOAD=", "LD_AUDIT=", "GLIBC_TUNABLES=", "MALLOC_"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(variable, names[i], strlen(names[i])) == 0) return true;
    }
    return false;
}

// The variable LD_LIBRARY_PATH of an interpreter with its own shared library beside it; NULL: it
// has none.
static char* own_libraries(const char* interpreter) {
    static const char* const names[] = {"lib", "lib64"};
    char prefix[PATH_MAX], around[2 * PATH_MAX], pattern[3 * PATH_MAX], *entry = NULL;
    if (!realpath(interpreter, prefix)) return NULL;
    for (int up = 0; up < 2; up++) {
        char* slash = strrchr(prefix, '/');
        if (!slash) return NULL;
        *slash = '\0';
    }
    as_pattern(prefix, around);
    for (size_t i = 0; i < 2 && !entry; i++) {
        snprintf(pattern, sizeof pattern, "%s/%s/libpython3*.so*", around, names[i]);
        glob_t hits = {0};
        if (glob(pattern, GLOB_NOSORT, NULL, &hits) == 0 &&
            asprintf(&entry, "LD_LIBRARY_PATH=%s/%s", prefix, names[i]) < 0) {
            entry = NULL;
        }
        globfree(&hits);
    }
    return entry;
}

char** python_environment(const Python* python, bool small, const char* site) {
    static const char aside[] = "AUTOFINITY_ASIDE_", site_is[] = SITE_VARIABLE "=";
    size_t count = 0;
    while (environ[count]) count++;
    char** copy = calloc(count + 5, sizeof *copy);
    if (!copy) return environ;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        char* entry = environ[i];
        if (strncmp(entry, aside, sizeof aside - 1) == 0) continue;
        if (site && strncmp(entry, site_is, sizeof site_is - 1) == 0) continue;
        if (steers(entry) && asprintf(&entry, "%s%s", aside, environ[i]) < 0) continue;
        copy[used++] = entry;
    }
    copy[used++] = "AUTOFINITY_ISOLATED=1";
    char* chosen;
    if (site && *site && asprintf(&chosen, "%s%s", site_is, site) >= 0) copy[used++] = chosen;
    char* libraries = own_libraries(python->interpreter);
    if (libraries) copy[used++] = libraries;
    if (small) copy[used++] = "MALLOC_ARENA_MAX=1";  // one heap instead of one for each thread
    return copy;
}
