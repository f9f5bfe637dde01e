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

static const char HELP[] =
    "Usage: autofinity run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
    "\n"
    "Run PROGRAM under a policy. PROGRAM replaces this command (same process, exit\n"
    "code, signals and streams); a monitor beside it samples the threads, asks the\n"
    "policy and binds them.\n"
    "\n"
    "Options:\n"
    "  --policy POLICY   policy to use: a file, or the name of a shipped one\n"
    "                    (default: AUTOFINITY_POLICY, else the user's own,\n"
    "                    autofinity/policy.json in the configuration folder, else\n"
    "                    the shipped one of this machine)\n"
    "  --hint HINT       place by this hint as soon as the threads compute, without\n"
    "                    a sample or a policy: spread, packed and so on, or letters\n"
    "                    such as sLP (see `autofinity hints`)\n"
    "  -t, --threads N   computing threads of PROGRAM (default: OMP_NUM_THREADS or a\n"
    "                    variable like it, else the threads observed to compute)\n"
    "  --bind HOW        llc: bind each thread to the CPUs of a last-level cache\n"
    "                    (default); core: to one CPU; none: measure and decide only\n"
    "  --near DEVICE     place threads near a device that they drive: gpu0, eth0,\n"
    "                    nvme0, a PCI address (see `autofinity topology`); every\n"
    "                    hint keeps its meaning\n"
    "  --every S         check PROGRAM every S seconds; sample and decide again when\n"
    "                    it has changed\n"
    "  --dry-run         start nothing; print what would be done, and the CPUs of\n"
    "                    each thread for each hint\n"
    "  --explain         print more before PROGRAM starts (also --verbose)\n"
    "  --quiet           print nothing\n"
    "  --help            print this text\n"
    "  --help-all        print all options\n";
static const char MORE_HELP[] =
    "\n"
    "More options:\n"
    "  --fallback HINT   place by this hint where no counter of the policy can be\n"
    "                    measured, or there is no policy (default:\n"
    "                    AUTOFINITY_FALLBACK, else threads stay where the system\n"
    "                    puts them)\n"
    "  --period LENGTH   usual length of a sample, such as 300ms (default 1s)\n"
    "  --mechanism NAME  place by the policy, by sharing between threads, or by "
    "both\n" MECHANISM_HELP
    "  --migrate-pages   migrate pages to the threads that use them (with a\n"
    "                    --mechanism)\n"
    "  --arm             switch on kernel.numa_balancing while PROGRAM runs, so that\n"
    "                    pages fault again; needs root; system-wide, and restored in\n"
    "                    any case\n"
    "  --db FILE         behaviour database (default: autofinity/behaviour.db in the\n"
    "                    state folder)\n"
    "  --db URL          site's database, postgresql://USER@HOST:PORT/DATABASE: gets\n"
    "                    the run from the behaviour database when PROGRAM has ended\n"
    "                    (default: AUTOFINITY_SITE_DB, unless --db FILE is given)\n"
    "  --no-db           neither read nor write the behaviour database\n"
    "  --auto-rebuild    when PROGRAM has ended and enough new samples are recorded,\n"
    "                    retrain the user's policy in the background (as `autofinity\n"
    "                    rebuild --if-due`)\n";
static const char AROUND_HELP[] =
    "\n"
    "Environment: AUTOFINITY_POLICY, a policy; AUTOFINITY_FALLBACK, a hint;\n"
    "AUTOFINITY_SITE_DB, URL of a site's database; AUTOFINITY_PYTHON, the monitor's\n"
    "interpreter; AUTOFINITY_SYSFS and AUTOFINITY_CPUINFO, the sysfs tree and\n"
    "/proc/cpuinfo of another machine, for tests.\n";
static const char END_OF_HELP[] =
    "\n"
    "`autofinity status` shows decisions, `autofinity explain last` shows their\n"
    "reasons and, while PROGRAM runs, the place of each thread, `autofinity doctor`\n"
    "shows what this machine can measure. Exit codes of `run` itself: 2 wrong use,\n"
    "126 PROGRAM may not run, 127 PROGRAM not found.\n";

static int help(bool all) {
    bool lost = fputs(HELP, stdout) == EOF;
    if (all) lost = fputs(MORE_HELP, stdout) == EOF || fputs(AROUND_HELP, stdout) == EOF || lost;
    return fputs(END_OF_HELP, stdout) == EOF || lost || fflush(stdout) == EOF ? 1 : 0;
}

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

static bool known_mechanism(const char* name) {
    static const char* const names[] = {MECHANISM_NAMES};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

// Matches `--name value` and `--name=value`. On a match with a value missing *value is NULL.
static bool takes_value(const char* name, char** argv, int* at, const char** value) {
    size_t length = strlen(name);
    if (strncmp(argv[*at], name, length) != 0) return false;
    if (argv[*at][length] == '=') {
        *value = argv[*at] + length + 1;
        return true;
    }
    if (argv[*at][length] != '\0') return false;
    *value = argv[*at + 1];
    if (*value) ++*at;
    return true;
}

// Matches `-t value` and `-tvalue`, as in the other commands; otherwise as `takes_value`.
static bool takes_short_value(char letter, char** argv, int* at, const char** value) {
    if (argv[*at][1] != letter) return false;
    *value = argv[*at][2] ? argv[*at] + 2 : argv[*at + 1];
    if (!argv[*at][2] && *value) ++*at;
    return true;
}

bool policy_decides(const Options* options) { return strcmp(options->mechanism, BY_POLICY) == 0; }

int parse_options(int argc, char** argv, Options* out) {
    *out = (Options){.bind = "llc", .mechanism = BY_POLICY, .use_db = true, .bind_threads = true};
    int at = 0;
    for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
        const char* option = argv[at];
        const char* value = "";
        if (strcmp(option, "--") == 0) {
            at++;
            break;
        }
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) return help(false);
        if (strcmp(option, "--help-all") == 0) return help(true);
        if (strcmp(option, "--no-db") == 0) {
            out->use_db = false;
        } else if (strcmp(option, "--no-bind") == 0) {  // until 0.2: --bind none
            out->bind_threads = false;
        } else if (strcmp(option, "--auto-rebuild") == 0) {
            out->auto_rebuild = true;
        } else if (strcmp(option, "--migrate-pages") == 0) {
            out->migrate_pages = true;
        } else if (strcmp(option, "--arm") == 0) {
            out->arm = true;
        } else if (strcmp(option, "--dry-run") == 0) {
            out->dry_run = true;
        } else if (strcmp(option, "--explain") == 0 || strcmp(option, "--verbose") == 0) {
            out->explain = true;
        } else if (strcmp(option, "--quiet") == 0) {
            out->quiet = true;
        } else if (takes_value("--policy", argv, &at, &value)) {
            out->policy = value;
        } else if (takes_value("--hint", argv, &at, &value)) {
            out->hint = hint_letters(value ? value : "");
            if (value && !out->hint) return wrong("wrong value for --hint", value, HINTS);
        } else if (takes_value("--near", argv, &at, &value)) {
            out->near = value;
        } else if (takes_value("--fallback", argv, &at, &value)) {
            out->fallback = hint_letters(value ? value : "");
            if (value && !out->fallback) return wrong("wrong value for --fallback", value, HINTS);
        } else if (takes_value("--db", argv, &at, &value)) {
            if (!is_site(value)) {
                if (value && is_other_url(value)) {
                    return wrong("wrong value for --db: a URL of another kind", NULL,
                                 "a file, or postgresql://USER@HOST:PORT/DATABASE");
                }
                if (value && strcmp(value, "-") == 0) {
                    return wrong("wrong value for --db", value, "a file");
                }
                out->db = value;
            } else if (!(out->site = taken_from_sight(argv[at] + (value - argv[at])))) {
                return wrong("the URL after --db is too long", NULL, "at most 4,000 bytes");
            }
        } else if (takes_value("--threads", argv, &at, &value) ||
                   takes_short_value('t', argv, &at, &value)) {
            if (value && !positive_integer(value, 1 << 20, &out->threads)) {
                return wrong("wrong value for --threads", value, "a whole number from 1");
            }
        } else if (takes_value("--period", argv, &at, &value)) {
            if (value && !seconds_of(value, out->period_s, sizeof out->period_s)) {
                return wrong("wrong value for --period", value, "a length such as 300ms or 1s");
            }
            out->sample_s = out->period_s;
        } else if (takes_value("--sample-s", argv, &at, &value)) {  // until 0.2: --period
            if (value && !positive_number(value)) {
                return wrong("wrong value for --sample-s", value, "seconds, more than 0");
            }
            out->sample_s = value;
        } else if (takes_value("--every", argv, &at, &value)) {
            if (value && !positive_number(value)) {
                return wrong("wrong value for --every", value, "seconds, more than 0");
            }
            out->every_s = value;
        } else if (takes_value("--mechanism", argv, &at, &value)) {
            if (value && !known_mechanism(value)) {
                return wrong("wrong value for --mechanism", value, MECHANISMS_LISTED);
            }
            if (value) out->mechanism = value;
        } else if (takes_value("--bind", argv, &at, &value)) {
            bool none = value && strcmp(value, "none") == 0;
            if (value && !none && strcmp(value, "llc") != 0 && strcmp(value, "core") != 0) {
                return wrong("wrong value for --bind", value, "llc, core or none");
            }
            if (value) out->bind_threads = !none;
            if (value && !none) out->bind = value;
        } else {
            return wrong("unknown option", option,
                         "an option of `run` before the program's name, or `--` before a program "
                         "whose name begins with a dash");
        }
        if (!value || (!*value && option[0] == '-' && strchr(option, '='))) {
            return wrong("missing value for", option, NULL);
        }
    }
    if (out->migrate_pages && policy_decides(out)) {
        return wrong("--migrate-pages needs a mechanism", NULL,
                     "a --mechanism that moves pages: " MECHANISMS_MOVING_PAGES);
    }
    if (out->hint && (out->policy || out->fallback || out->every_s || !out->bind_threads ||
                      !policy_decides(out))) {
        return wrong("--hint decides the placement", NULL,
                     "--hint without --policy, --fallback, --mechanism, --every and --bind none");
    }
    if (out->near && (!policy_decides(out) || !out->bind_threads)) {
        return wrong("--near is for threads that a hint places", NULL,
                     "--near without --mechanism and --bind none");
    }
    if (out->fallback && !policy_decides(out)) {
        return wrong("--fallback needs a policy", NULL, "--fallback without --mechanism");
    }
    if (at >= argc) return wrong("no program to run", NULL, "autofinity run -- PROGRAM ...");
    out->app = argv + at;
    return -1;
}
