// Which policy a run asks when none is named: the user's own (`autofinity rebuild` writes it), else
// the shipped one. `autofinity.runtime.policies` knows the same places.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

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
#ifdef AUTOFINITY_SOURCE_DIR
    (void)python;
    return readable(out, AUTOFINITY_SOURCE_DIR, "policies/default.json");
#else
    return python->package[0] && readable(out, python->package, "share/policies/default.json");
#endif
}

bool default_policy_path(const Python* python, char out[PATH_MAX]) {
    return user_policy_path(out) || shipped_policy_path(python, out);
}
