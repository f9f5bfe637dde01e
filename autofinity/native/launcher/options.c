// The options of `autofinity run`, parsed by hand: everything from the first word that is no option
// (or after `--`) belongs to the application, byte for byte.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "launcher.h"
#include "mechanism_lists.h"

static int wrong(const char* what, const char* got, const char* expected) {
    char shown[256] = "";
    snprintf(shown, sizeof shown, "%s", got ? got : "");
    make_plain(shown, strlen(shown));
    fprintf(stderr, "autofinity run: %s%s%s%s; try `autofinity run --help`\n", what,
            got ? " '" : "", shown, got ? "'" : "");
    if (expected) fprintf(stderr, "  expected %s\n", expected);
    return 2;
}

static bool positive_integer(const char* text, int limit, int* out) {
    char* end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > limit) return false;
    *out = (int)value;
    return true;
}

static bool positive_number(const char* text) {
    char* end;
    double value = strtod(text, &end);
    return end != text && !*end && value > 0 && value <= 86400;
}

// Seconds of a length such as `300ms`, in digits; false if the text is no length.
static bool seconds_of(const char* text, char* out, size_t size) {
    static const struct {
        const char* name;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
    char* unit;
    double value = strtod(text, &unit);
    for (size_t i = 0; unit != text && i < sizeof units / sizeof units[0]; i++) {
        double seconds = value * units[i].seconds;
        if (strcmp(unit, units[i].name) != 0) continue;
        snprintf(out, size, "%.9g", seconds);
        return seconds > 0 && seconds <= 86400;
    }
    return false;
}

typedef struct {
    const char* name;
    bool moves_pages, by_rules;
} Mechanism;

/* NULL: there is none of that name. */
static const Mechanism* mechanism_of(const char* name) {
    static const Mechanism mechanisms[] = {MECHANISM_ABILITIES};
    for (size_t i = 0; i < sizeof mechanisms / sizeof mechanisms[0]; i++) {
        if (strcmp(name, mechanisms[i].name) == 0) return &mechanisms[i];
    }
    return NULL;
}

static bool set_flag(const char* option, Options* out) {
    const struct {
        const char* name;
        bool* flag;
        bool value;
    } flags[] = {
        {"--no-db", &out->use_db, false},
        {"--no-bind", &out->bind_threads, false},  // until 0.2: --bind none
        {"--auto-rebuild", &out->auto_rebuild, true},
        {"--migrate-pages", &out->migrate_pages, true},
        {"--keep-pages", &out->keep_pages, true},
        {"--arm", &out->arm, true},
        {"--dry-run", &out->dry_run, true},
        {"--json", &out->json, true},
        {"--explain", &out->explain, true},
        {"--verbose", &out->explain, true},
        {"--quiet", &out->quiet, true},
    };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (strcmp(option, flags[i].name) != 0) continue;
        *flags[i].flag = flags[i].value;
        return true;
    }
    return false;
}

enum { GO_ON = -1 };  // else an exit code

static int set_policy(char* value, Options* out) {
    out->policy = value;
    return GO_ON;
}

static int set_near(char* value, Options* out) {
    out->near = value;
    return GO_ON;
}

static int set_hint(char* value, Options* out) {
    out->hint = hint_letters(value);
    return out->hint ? GO_ON : wrong("wrong value for --hint", value, HINTS);
}

static int set_fallback(char* value, Options* out) {
    out->fallback = hint_letters(value);
    return out->fallback ? GO_ON : wrong("wrong value for --fallback", value, HINTS);
}

static int set_db(char* value, Options* out) {
    if (is_site(value)) {
        out->site = taken_from_sight(value);
        if (out->site) return GO_ON;
        return wrong("the URL after --db is too long", NULL, "at most 4,000 bytes");
    }
    if (is_other_url(value)) {
        return wrong("wrong value for --db: a URL of another kind", NULL,
                     "a file, or postgresql://USER@HOST:PORT/DATABASE");
    }
    if (strcmp(value, "-") == 0) return wrong("wrong value for --db", value, "a file");
    out->db = value;
    return GO_ON;
}

static int set_threads(char* value, Options* out) {
    if (positive_integer(value, 1 << 20, &out->threads)) return GO_ON;
    return wrong("wrong value for --threads", value, "a whole number from 1 to 1,048,576");
}

static int set_period(char* value, Options* out) {
    out->sample_s = out->period_s;
    if (seconds_of(value, out->period_s, sizeof out->period_s)) return GO_ON;
    return wrong("wrong value for --period", value, "a length such as 300ms or 1s");
}

static int set_sample_s(char* value, Options* out) {
    out->sample_s = value;
    if (positive_number(value)) return GO_ON;
    return wrong("wrong value for --sample-s", value, "seconds, more than 0");
}

static int set_every(char* value, Options* out) {
    out->every_s = value;
    if (positive_number(value)) return GO_ON;
    return wrong("wrong value for --every", value, "seconds, more than 0");
}

static int set_mechanism(char* value, Options* out) {
    out->mechanism = value;
    if (mechanism_of(value)) return GO_ON;
    return wrong("wrong value for --mechanism", value, MECHANISMS_LISTED);
}

static int set_bind(char* value, Options* out) {
    bool none = strcmp(value, "none") == 0;
    if (!none && strcmp(value, "llc") != 0 && strcmp(value, "core") != 0) {
        return wrong("wrong value for --bind", value, "llc, core or none");
    }
    out->bind_threads = !none;
    if (!none) out->bind = value;
    return GO_ON;
}

typedef struct {
    const char* name;
    char letter;  // of the short form; '\0': none
    int (*set)(char* value, Options* out);
} ValueOption;

static const ValueOption VALUE_OPTIONS[] = {
    {"--policy", '\0', set_policy}, {"--hint", '\0', set_hint},
    {"--near", '\0', set_near},     {"--fallback", '\0', set_fallback},
    {"--db", '\0', set_db},         {"--threads", 't', set_threads},
    {"--period", '\0', set_period}, {"--sample-s", '\0', set_sample_s},  // until 0.2: --period
    {"--every", '\0', set_every},   {"--mechanism", '\0', set_mechanism},
    {"--bind", '\0', set_bind},
};

// Matches `--name value`, `--name=value`, `-n value` and `-nvalue`, as in the other commands. On a
// match with a value missing *value is NULL.
static bool takes_value(const ValueOption* option, char** argv, int* at, char** value) {
    char* word = argv[*at];
    size_t length = strlen(option->name);
    if (option->letter && word[1] == option->letter) {
        length = 2;
    } else if (strncmp(word, option->name, length) != 0) {
        return false;
    } else if (word[length] == '=') {
        length++;
        *value = word + length;
        return true;
    } else if (word[length] != '\0') {
        return false;
    }
    *value = word[length] ? word + length : argv[*at + 1];
    if (!word[length] && *value) ++*at;
    return true;
}

static int set_value(char** argv, int* at, Options* out) {
    const char* word = argv[*at];
    for (size_t i = 0; i < sizeof VALUE_OPTIONS / sizeof VALUE_OPTIONS[0]; i++) {
        char* value;
        if (!takes_value(&VALUE_OPTIONS[i], argv, at, &value)) continue;
        bool missing = !value || (!*value && strchr(word, '='));
        int code = value ? VALUE_OPTIONS[i].set(value, out) : GO_ON;
        return code == GO_ON && missing ? wrong("missing value for", word, NULL) : code;
    }
    return wrong("unknown option", word,
                 "an option of `run` before the program's name, or `--` before a program whose "
                 "name begins with a dash");
}

bool policy_decides(const Options* options) { return strcmp(options->mechanism, BY_POLICY) == 0; }

static int check_together(const Options* given) {
    const Mechanism* mechanism = mechanism_of(given->mechanism);
    if (given->migrate_pages && !mechanism->moves_pages) {
        return wrong("--migrate-pages needs a mechanism", NULL,
                     "a --mechanism that moves pages: " MECHANISMS_MOVING_PAGES);
    }
    if (given->keep_pages && given->migrate_pages) {
        return wrong("--keep-pages and --migrate-pages are opposites", NULL, "one of them");
    }
    if (given->hint && (given->policy || given->fallback || given->every_s ||
                        !given->bind_threads || !policy_decides(given))) {
        return wrong("--hint decides the placement", NULL,
                     "--hint without --policy, --fallback, --mechanism, --every and --bind none");
    }
    if (given->near && (!policy_decides(given) || !given->bind_threads)) {
        return wrong("--near is for threads that a hint places", NULL,
                     "--near without --mechanism and --bind none");
    }
    if (given->json && !given->dry_run) {
        return wrong("--json is for what --dry-run prints", NULL,
                     "--dry-run --json, or `autofinity status --json` after the run");
    }
    if ((given->policy || given->every_s) && !mechanism->by_rules) {
        return wrong("--policy and --every are for rules", NULL,
                     "them with a --mechanism that asks the policy: " MECHANISMS_BY_RULES);
    }
    if (given->auto_rebuild && !given->use_db) {
        return wrong("--auto-rebuild learns from the behaviour database", NULL,
                     "--auto-rebuild without --no-db");
    }
    if (given->fallback && !policy_decides(given)) {
        return wrong("--fallback needs a policy", NULL, "--fallback without --mechanism");
    }
    return GO_ON;
}

int parse_options(int argc, char** argv, Options* out) {
    *out = (Options){.bind = "llc", .mechanism = BY_POLICY, .use_db = true, .bind_threads = true};
    int at = 0, code = GO_ON;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0' && code == GO_ON; at++) {
        if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        }
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0) return run_help(false);
        if (strcmp(argv[at], "--help-all") == 0) return run_help(true);
        if (!set_flag(argv[at], out)) code = set_value(argv, &at, out);
    }
    if (code == GO_ON) code = check_together(out);
    if (code != GO_ON) return code;
    if (at >= argc) return wrong("no program to run", NULL, "autofinity run -- PROGRAM ...");
    out->app = argv + at;
    return GO_ON;
}
