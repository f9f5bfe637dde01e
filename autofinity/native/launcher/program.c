// Finds the file that exec will run, and makes the key that names this version of the file.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "launcher.h"

static bool exists(const char* path, struct stat* info) {
    return stat(path, info) == 0 && S_ISREG(info->st_mode);
}

static bool runnable(const char* path, struct stat* info) {
    // access(2) itself knows no such errors: they come from a seccomp filter, and exec will report
    // them.
    return exists(path, info) && (access(path, X_OK) == 0 || errno == EPERM || errno == ENOSYS);
}

static bool search(const char* name, char out[PATH_MAX], struct stat* info,
                   bool (*serves)(const char*, struct stat*)) {
    if (!*name) return false;
    if (strchr(name, '/')) {
        return snprintf(out, PATH_MAX, "%s", name) < PATH_MAX && serves(out, info);
    }
    const char* path = getenv("PATH");
    if (!path) path = "/bin:/usr/bin";  // execvp's default
    while (true) {
        size_t length = strcspn(path, ":");
        int wanted = length ? snprintf(out, PATH_MAX, "%.*s/%s", (int)length, path, name)
                            : snprintf(out, PATH_MAX, "./%s", name);
        if (wanted > 0 && wanted < PATH_MAX && serves(out, info)) return true;
        if (!path[length]) return false;
        path += length + 1;
    }
}

// `python train.py` and `python serve.py` are two programs: for an interpreter, its arguments up to
// the first that is no option count as part of the name. These options have their value in the next
// argument (`julia -t 8 solve.jl`), where that is not the program itself, as after `-m` or `-jar`.
static const struct {
    const char *name, *with_value;
} INTERPRETERS[] = {
    {"python", "-W -X --check-hash-based-pycs"},
    {"pypy", "-W -X"},
    {"perl", "-I"},
    {"ruby", "-I -r -C -E"},
    {"bash", "-o -O --init-file --rcfile"},
    {"sh", "-o"},
    {"dash", "-o"},
    {"zsh", "-o"},
    {"ksh", "-o"},
    {"java",
     "-cp -classpath --class-path -p --module-path --upgrade-module-path --add-modules "
     "--limit-modules --add-exports --add-opens --add-reads --patch-module "
     "--enable-native-access --source"},
    {"julia",
     "-t --threads --gcthreads -p --procs --machine-file -L --load -J --sysimage -C --cpu-target "
     "-H --home --heap-size-hint"},
    {"node", "-r --require --import --loader --experimental-loader -C --conditions --title"},
    {"lua", "-e -l"},
    {"php", "-c -d -z"},
    {"R", ""},
    {"Rscript", ""},
    {"octave", "-p --path"},
};

// These commands run the program that is named among their arguments: `time ./a` and `time ./b` are
// two programs. Some files have many commands, which their first argument names.
static bool runs_another(const char* path) {
    static const char* const names[] = {
        "env",           "time",    "timeout",     "nice",    "ionice",   "chrt",
        "nohup",         "setsid",  "stdbuf",      "taskset", "numactl",  "hwloc-bind",
        "likwid-pin",    "setarch", "systemd-run", "mpirun",  "mpiexec",  "orterun",
        "mpiexec.hydra", "prterun", "srun",        "busybox", "coreutils"};
    const char* base = strrchr(path, '/');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(base ? base + 1 : path, names[i]) == 0) return true;
    }
    return false;
}

// The options of an interpreter that have their value in the next argument; NULL: it is none.
static const char* options_with_value(const char* path) {
    const char* base = strrchr(path, '/');
    base = base ? base + 1 : path;
    for (size_t i = 0; i < sizeof INTERPRETERS / sizeof INTERPRETERS[0]; i++) {
        size_t length = strlen(INTERPRETERS[i].name);
        if (strncmp(base, INTERPRETERS[i].name, length) == 0 &&
            strspn(base + length, "0123456789.") == strlen(base + length)) {
            return INTERPRETERS[i].with_value;
        }
    }
    return NULL;
}

// Whether one of the words, which stand between spaces, is this one.
static bool has_word(const char* words, const char* word) {
    size_t wanted = strlen(word);
    for (size_t length; (length = strcspn(words, " ")) > 0; words += strspn(words, " ")) {
        if (length == wanted && strncmp(words, word, length) == 0) return true;
        words += length;
    }
    return false;
}

static void add_text(Sha256* hash, const char* text) { sha256_add(hash, text, strlen(text) + 1); }

static void add_file(Sha256* hash, const struct stat* info) {
    char text[96];
    snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)info->st_size,
             (long long)info->st_mtim.tv_sec, info->st_mtim.tv_nsec);
    add_text(hash, text);
}

// Adds the first argument that names a program, and those before it. Returns what follows; NULL:
// none names one. `real`: the program's path.
static char* const* add_program(Sha256* hash, char* const* argument, char real[PATH_MAX]) {
    char found[PATH_MAX];
    struct stat info;
    for (; *argument; argument++) {
        if (**argument != '-' && search(*argument, found, &info, runnable) &&
            realpath(found, real)) {
            add_text(hash, real);
            add_file(hash, &info);
            return argument + 1;
        }
        add_text(hash, *argument);
    }
    return NULL;
}

// Adds the arguments that are part of a program's name.
static void add_arguments(Sha256* hash, const char* path, char* const* argument) {
    char program[PATH_MAX], real[PATH_MAX];
    while (runs_another(path)) {
        argument = add_program(hash, argument, program);
        if (!argument) return;
        path = program;
    }
    const char* with_value = options_with_value(path);
    bool value = false;  // of the option before
    for (; with_value && *argument; argument++) {
        struct stat info;
        bool option = !value && **argument == '-';
        bool file = !option && realpath(*argument, real) != NULL;
        add_text(hash, file ? real : *argument);
        if (file && stat(real, &info) == 0) add_file(hash, &info);
        if (!option && !value) return;
        value = option && has_word(with_value, *argument);
    }
}

bool program_exists(const char* name) {
    char found[PATH_MAX];
    struct stat info;
    return search(name, found, &info, exists);
}

bool program_runs(const char* name) {
    char found[PATH_MAX];
    struct stat info;
    return search(name, found, &info, runnable);
}

bool find_program(char* const* argv, Program* out) {
    char found[PATH_MAX];
    struct stat info;
    trying("readlink");
    if (!search(argv[0], found, &info, runnable)) return false;
    if (!realpath(found, out->path)) {
        say("no monitor: the path of %s cannot be resolved: %s", found, strerror(errno));
        return false;
    }
    // Only files that would really change the user of the process: root running a root-owned setuid
    // file gains nothing. File capabilities make a program non-dumpable whoever runs it.
    bool setuid = (info.st_mode & S_ISUID) && info.st_uid != geteuid();
    bool setgid = (info.st_mode & S_ISGID) && (info.st_mode & S_IXGRP) && info.st_gid != getegid();
    trying("getxattr");
    bool capable = getxattr(out->path, "security.capability", NULL, 0) > 0;
    trying("access");
    // A user who may run a program without reading it may not inspect it either.
    bool unreadable = access(out->path, R_OK) != 0;
    out->privileged = setuid || setgid || capable || unreadable;

    Sha256 hash;
    sha256_init(&hash);
    add_text(&hash, out->path);
    add_file(&hash, &info);
    add_arguments(&hash, out->path, argv + 1);
    sha256_hex(&hash, out->key);
    return true;
}

// One count, or one for each nesting level, whose product is the number that runs at once; 0: none
// that counts. `pools`: the counts are of pools of threads, and only the first one computes.
static long count_in(const char* text, bool pools) {
    long product = 1;
    char* end = (char*)text;
    do {
        const char* from = end + (*end == ',');
        errno = 0;
        long value = strtol(from, &end, 10);
        while (*end == ' ') end++;
        if (errno || end == from || value < 1 || value > 1 << 20) return 0;
        product *= value;
        if (product > 1 << 20) return 0;
    } while (*end == ',' && !pools);
    return *end == '\0' || *end == ',' ? product : 0;
}

int threads_from_environment(void) {
    static const struct {
        const char* name;
        const char* limit;  // no more run, whatever is asked for; or NULL
        bool pools;
    } variables[] = {
        {"OMP_NUM_THREADS", "OMP_THREAD_LIMIT", false},
        {"OPENBLAS_NUM_THREADS", NULL, false},
        {"MKL_NUM_THREADS", NULL, false},
        {"BLIS_NUM_THREADS", NULL, false},
        {"RAYON_NUM_THREADS", NULL, false},
        {"JULIA_NUM_THREADS", NULL, true},  // "8,1": one more for what a user types
    };
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char* text = getenv(variables[i].name);
        long count = text ? count_in(text, variables[i].pools) : 0;
        if (!count) continue;
        const char* most = variables[i].limit ? getenv(variables[i].limit) : NULL;
        long limit = most ? count_in(most, false) : 0;
        return (int)(limit && limit < count ? limit : count);
    }
    return 0;
}
