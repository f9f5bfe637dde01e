// Which policy a run asks when none is named: the user's own (`autofinity rebuild` writes it), else
// the shipped one. `autofinity.runtime.policies` knows the same places.
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

// Folders of a Python environment that hold the package, seen from the folder of the executable.
static const char* const PACKAGES[] = {
    "../lib/python3*/site-packages",
    "../lib64/python3*/site-packages",
    "../lib/python3*/dist-packages",
    "..",  // pip install --target
};

static bool readable(char out[PATH_MAX], const char* folder, const char* name) {
    int wanted = snprintf(out, PATH_MAX, "%s/%s", folder, name);
    if (wanted > 0 && wanted < PATH_MAX && access(out, F_OK) == 0) return true;
    out[0] = '\0';
    return false;
}

static bool user_policy_path(char out[PATH_MAX]) {
    // A relative XDG_CONFIG_HOME does not count (XDG base directory specification).
    const char* config = getenv("XDG_CONFIG_HOME");
    const char* home = getenv("HOME");
    if (config && config[0] == '/') return readable(out, config, "autofinity/policy.json");
    if (home && home[0] == '/') return readable(out, home, ".config/autofinity/policy.json");
    out[0] = '\0';
    return false;
}

static bool shipped_policy_path(const Python* python, char out[PATH_MAX]) {
    if (python->root[0]) return readable(out, python->root, "policies/default.json");
    char folder[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    folder[length > 0 ? length : 0] = '\0';
    char* slash = strrchr(folder, '/');
    if (!slash) return false;
    *slash = '\0';
    bool found = false;
    for (size_t i = 0; i < sizeof PACKAGES / sizeof PACKAGES[0] && !found; i++) {
        char pattern[2 * PATH_MAX];
        snprintf(pattern, sizeof pattern, "%s/%s/autofinity/share/policies/default.json", folder,
                 PACKAGES[i]);
        glob_t hits = {0};
        if (glob(pattern, 0, NULL, &hits) == 0 && strlen(hits.gl_pathv[0]) < PATH_MAX) {
            snprintf(out, PATH_MAX, "%s", hits.gl_pathv[0]);
            found = true;
        }
        globfree(&hits);
    }
    return found;
}

bool default_policy_path(const Python* python, char out[PATH_MAX]) {
    return user_policy_path(out) || shipped_policy_path(python, out);
}
