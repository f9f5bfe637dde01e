// Chooses the policy of a run: a policy that the user names, else the user's own (`autofinity
// rebuild` writes it), else the policy shipped for this very machine, else the policy for
// any machine. The policy of another machine is never used unless it is named.
// `autofinity.runtime.policies` looks in the same places.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher.h"

static bool readable(char out[PATH_MAX], const char* folder, const char* name, const char* suffix) {
    int wanted = snprintf(out, PATH_MAX, "%s/%s%s", folder, name, suffix);
    if (wanted > 0 && wanted < PATH_MAX && access(out, F_OK) == 0) return true;
    out[0] = '\0';
    return false;
}

static bool user_policy_path(char out[PATH_MAX]) {
    // A relative XDG_CONFIG_HOME does not count (XDG base directory specification).
    const char* config = getenv("XDG_CONFIG_HOME");
    const char* home = getenv("HOME");
    if (config && config[0] == '/') return readable(out, config, "autofinity/policy.json", "");
    if (home && home[0] == '/') return readable(out, home, ".config/autofinity/policy.json", "");
    out[0] = '\0';
    return false;
}

static bool shipped_folder(const Python* python, char out[PATH_MAX]) {
#ifdef AUTOFINITY_SOURCE_DIR
    (void)python;
    return readable(out, AUTOFINITY_SOURCE_DIR, "policies", "");
#else
    return python->package[0] && readable(out, python->package, "share/policies", "");
#endif
}

// A file, else the shipped policy of that name.
static bool named_policy(const char* wish, const char* folder, char out[PATH_MAX],
                         char reason[REASON_CHARS]) {
    struct stat info;
    bool there = stat(wish, &info) == 0;
    bool named = folder[0] && *wish != '.' && !strchr(wish, '/');
    // A folder of results may have the name of the machine.
    if (!(there && !S_ISDIR(info.st_mode)) && named && readable(out, folder, wish, ".json")) {
        return true;
    }
    if (there && strlen(wish) < PATH_MAX) {
        snprintf(out, PATH_MAX, "%s", wish);
        return true;
    }
    out[0] = '\0';
    snprintf(
        reason, REASON_CHARS, "%s",
        strcmp(wish, "default") == 0
            ? "it is called opteron-6164he and is of that machine only; expected that name, or "
              "no name for the policy of the machine at hand"
            : "there is no such file, and no policy of that name is shipped (`autofinity "
              "doctor` lists those that are)");
    return false;
}

// "NAME SOCKETS NODES LLCS_PER_SOCKET CORES_PER_LLC CPU": the CPU, where the line has that shape.
static const char* cpu_of_line(char* line, char name[NAME_MAX + 1], const Shape* shape) {
    Shape read;
    int used = 0;
    _Static_assert(NAME_MAX == 255, "the width below");
    if (sscanf(line, "%255s %d %d %d %d%n", name, &read.sockets, &read.nodes, &read.llcs_per_socket,
               &read.cores_per_llc, &used) != 5 ||
        line[used] != ' ') {
        return NULL;
    }
    line[used + 1 + (int)strcspn(line + used + 1, "\n")] = '\0';
    bool fits = !shape || (read.sockets == shape->sockets && read.nodes == shape->nodes &&
                           read.llcs_per_socket == shape->llcs_per_socket &&
                           read.cores_per_llc == shape->cores_per_llc);
    return fits ? line + used + 1 : NULL;
}

// The first line of the table for this CPU, and for this shape if given, with a shipped policy.
static bool find_machine(const char* folder, const char* cpu, const Shape* shape,
                         char out[PATH_MAX]) {
    char path[PATH_MAX], line[1024], name[NAME_MAX + 1];
    FILE* table = readable(path, folder, "machines", ".txt") ? fopen(path, "re") : NULL;
    bool found = false;
    while (table && !found && fgets(line, sizeof line, table)) {
        const char* model = cpu_of_line(line, name, shape);
        size_t length = model ? strlen(model) : 0;
        // The kernel's name may continue after a space ("AMD EPYC 9654 96-Core Processor").
        found = model && strncmp(cpu, model, length) == 0 &&
                (cpu[length] == '\0' || cpu[length] == ' ') && readable(out, folder, name, ".json");
    }
    if (table) fclose(table);
    return found;
}

static bool machine_policy(const char* folder, char out[PATH_MAX]) {
    char cpu[MODEL_CHARS];
    Shape shape;
    cpu_model(cpu);
    // The shape takes a read for each core: only where the CPU is one of the table's.
    return find_machine(folder, cpu, NULL, out) && machine_shape(&shape) &&
           find_machine(folder, cpu, &shape, out);
}

bool choose_policy(const char* wish, const Python* python, PolicyChoice* out,
                   char reason[REASON_CHARS]) {
    *out = (PolicyChoice){.origin = ""};
    char folder[PATH_MAX];
    if (!shipped_folder(python, folder)) folder[0] = '\0';
    out->origin = "named by --policy";
    if (wish) return named_policy(wish, folder, out->path, reason);
    wish = getenv("AUTOFINITY_POLICY");
    out->origin = "named by AUTOFINITY_POLICY";
    if (wish && *wish) return named_policy(wish, folder, out->path, reason);
    out->origin = "the user's own";
    if (user_policy_path(out->path)) return true;
    out->origin = "shipped for this machine";
    if (folder[0] && machine_policy(folder, out->path)) return true;
    out->origin = "shipped for any machine";
    if (folder[0] && readable(out->path, folder, "any-machine", ".json")) return true;
    *out = (PolicyChoice){.origin = ""};
    return true;
}
