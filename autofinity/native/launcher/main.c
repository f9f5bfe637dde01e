// `autofinity`: `run` is handled here and becomes the application; all else is Python's.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

// Python turns Ctrl-C into an exception, and a traceback, from its first step on. So the signal
// waits until the command line can take it (`autofinity/__main__.py`), unless our caller holds it
// anyway.
static void hold_interrupt(void) {
    sigset_t interrupt, before;
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    if (sigprocmask(SIG_BLOCK, &interrupt, &before) == 0 && !sigismember(&before, SIGINT)) {
        setenv("AUTOFINITY_SIGINT", "held", 1);
    }
}

static int become_python(char** argv) {
    static Python python;
    find_python(&python);
    int argc = 0, used = 0;
    while (argv[argc]) argc++;
    const char** command = calloc((size_t)argc + PYTHON_WORDS, sizeof *command);
    if (!command) return 1;
    if (python.interpreter[0]) {
        python_command(&python, "autofinity", true, command);
        while (command[used]) used++;
        memcpy(command + used, argv + 1, (size_t)argc * sizeof *argv);
        hold_interrupt();
        execve(command[0], (char* const*)command, python_environment(&python, false, NULL));
    }
    if (python.script[0]) execv(python.script, argv);  // it may know the command
    say_init(false);
    say("no Python to run this command: expected autofinity-cli or python3 beside this executable, "
        "or AUTOFINITY_PYTHON to name an interpreter; reinstall autofinity");
    return 1;
}

static const char* absolute(const char* path, char out[PATH_MAX]) {
    return path && *path && realpath(path, out) ? out : NULL;
}

// Everything to know before the application starts. Each part may be missing.
typedef struct {
    Program program;
    State state;
    Python python;
    CpuSet allowed;
    Known known;
    Attached attached;
    const Options* options;
    pid_t application;
    bool adopts;
    const char* wrong_fallback;  // value of AUTOFINITY_FALLBACK, where that is no hint
    bool one_cache;              // every hint gives threads the same CPUs
    bool sharing_shows;          // page faults may show which threads belong together
    const char* origin;          // source of the policy
    enum Asks asks;              // counters that the policy uses
    char policy[PATH_MAX], digest[DIGEST_CHARS + 1], allowed_list[4096], reason[REASON_CHARS];
} Plan;

// False: the policy that was asked for is no policy; the reason has been printed.
static bool find_policy(const Options* options, Plan* plan) {
    static PolicyChoice chosen;
    if (options->hint) return true;  // no policy is needed
    bool found = choose_policy(options->policy, &plan->python, &chosen, plan->reason);
    if (found && !chosen.path[0]) return true;  // tell_tier prints this
    if (!found || !check_policy_file(chosen.path, plan->digest, &plan->asks, plan->reason)) {
        const char* wish = options->policy ? options->policy : getenv("AUTOFINITY_POLICY");
        char flaw[FLAW_CHARS];
        if (found && !options->quiet && policy_flaw(&plan->python, chosen.path, flaw)) {
            say("the policy is not used: %s; the program runs as the system places it", flaw);
        } else {
            say("the policy %s is not used: %s; the program runs as the system places it",
                found ? chosen.path : wish, plan->reason);
        }
        return false;
    }
    char path[PATH_MAX];
    snprintf(plan->policy, PATH_MAX, "%s", absolute(chosen.path, path) ? path : "");
    plan->origin = chosen.origin;
    return true;
}

// Placement of threads when nothing is decided, and the hint of the fallback.
#define UNDECIDED(fallback) \
    (fallback) ? "to be placed by the fallback, " : STAYS, (fallback) ? hint_shown(fallback) : ""
static const char STAYS[] = "threads stay where the system puts them";

static const char TRAIN[] =
    "; `autofinity train --machine host` trains one, --policy NAME uses another machine's";
static const char DOCTOR[] = "; `autofinity doctor` shows how to enable counters";

static void tell_without_policy(const Plan* plan, const char* only) {
    say("there is no policy for this machine: %s%s%s", UNDECIDED(plan->options->fallback),
        *only ? only : TRAIN);
}

static void tell_blind(const Plan* plan, const char* only) {
    const Options* options = plan->options;
    say("no counter of the policy's rules can be measured here: %s%s%s%s",
        UNDECIDED(options->fallback),
        options->fallback || !plan->sharing_shows ? "" : " until page faults show sharing",
        *only               ? only
        : options->fallback ? ""
                            : DOCTOR);
}

// Two lines of a terminal at most: `autofinity explain last` has the reasons.
static void tell_tier(const Plan* plan) {
    const Options* options = plan->options;
    const Attached* attached = &plan->attached;
    const char* only = !options->bind_threads ? "; nothing is bound (--bind none)"
                       : plan->one_cache
                           ? "; one last-level cache is allowed, so there is nothing to choose"
                           : "";
    if (options->hint) {
        say("hint %s, by --hint: placed as soon as its threads compute, if there is a CPU for each",
            hint_shown(options->hint));
    } else if (!policy_decides(options)) {
        say("%s: page faults show sharing between threads%s%s", options->mechanism,
            options->arm ? "" : " (where kernel.numa_balancing is on; --arm switches it on)", only);
    } else if (!plan->policy[0]) {
        tell_without_policy(plan, only);
    } else if (attached->tier < 0) {
        say("the monitor is still starting, so its counters are not known yet%s", only);
    } else if (attached->tier == TIER_HARDWARE) {
        say("placing by hardware counters and the policy, %s%s", plan->origin, only);
    } else if (plan->asks == ASKS_HARDWARE) {
        tell_blind(plan, only);
    } else {
        const bool one = plan->asks == ASKS_NOTHING;
        say("placing by %s%s the policy, %s%s", one ? "" : tier_name(attached->tier),
            one ? "the one answer of" : " and", plan->origin, only);
    }
}

// Node of the device that hints prefer; negative: none, and the reason has been printed.
static int find_near_node(const char* device) {
    if (!device) return NODE_UNKNOWN;
    trying("getdents64");
    int node = device_node(device);
    if (node >= 0) return node;
    if (node == NODE_UNKNOWN) {
        say("--near %s has no effect: the kernel does not know its NUMA node", device);
        return node;
    }
    char names[REASON_CHARS];
    device_names(names, sizeof names);
    say("--near %s has no effect: there is no such device; %s%s", device,
        names[0] ? "expected a PCI address or " : "this machine shows none", names);
    return node;
}

// Prepares everything around the process that becomes the application, in a child of it. Nothing in
// here may keep the application from running.
static void prepare(void* what) {
    Plan* plan = what;
    const Options* options = plan->options;
    say_init(options->quiet);
    if (plan->wrong_fallback) {
        say("AUTOFINITY_FALLBACK is ignored: got '%s', expected " HINTS, plan->wrong_fallback);
    }
    if (!find_program(options->app, &plan->program)) return;  // exec will print the reason
    if (plan->program.privileged) {
        say("%s is setuid, setgid, unreadable or has file capabilities: neither measured nor bound",
            plan->program.path);
        return;
    }
    bool use_db = options->use_db;
    if (use_db) {
        find_state(options, &plan->state);
        if (!check_database(&plan->state, plan->reason)) {
            say("the behaviour database %s%sis not used: %s", plan->state.db,
                plan->state.db[0] ? " " : "", plan->reason);
            use_db = false;
        }
    }
    const char* site = options->db || options->site ? NULL : getenv(SITE_VARIABLE);
    if (use_db && site && *site && !*site_url(options)) {
        say(SITE_VARIABLE " is no postgresql:// URL: the run is not sent");
    }
    trying(NULL);
    find_python(&plan->python);
    if (!find_policy(options, plan)) return;
    trying("sched_getaffinity");
    if (!cpuset_get(&plan->allowed) ||
        !cpuset_format(&plan->allowed, plan->allowed_list, sizeof plan->allowed_list)) {
        say("nothing is bound: the CPUs allowed to this process cannot be read");
        return;
    }
    bool undecided = policy_decides(options) && !options->hint && options->bind_threads;
    bool single = undecided && nothing_to_choose(&plan->allowed);
    plan->one_cache = single && strcmp(options->bind, "llc") == 0;
    plan->sharing_shows = undecided && !single && hinting_is_on();
    int near_node = find_near_node(options->near);
    int threads = options->threads ? options->threads : threads_from_environment();
    LocalRank local;
    find_local_rank(&local);
    // A thread count is bound before exec only when it is promised: a runtime that counts the CPUs
    // it may use must not find fewer because of us. Ranks begin together, and would all be bound to
    // the same CPUs. Known cores are those of runs without a device.
    bool known = use_db && options->bind_threads && policy_decides(options) && threads > 0 &&
                 near_node < 0 && plan->digest[0] && local.ranks < 2 &&
                 find_decision(&plan->state, plan->program.key, threads, plan->digest,
                               options->bind, &plan->allowed, &plan->known);
    bool crowded = known && claimed_by_others(&plan->state, &plan->known.set);
    if (crowded) known = false;  // the monitor looks for cores beside them
    bool monitored = false;
    MonitorRequest request = {
        .options = options,
        .program = &plan->program,
        .python = &plan->python,
        .state = use_db ? &plan->state : NULL,
        .policy = plan->policy[0] ? plan->policy : NULL,
        .origin = plan->origin,
        .bound = known ? plan->known.list : NULL,
        .allowed = plan->allowed_list,
        .near_node = near_node,
        .threads = threads,
        .local = local,
        .application = plan->application,
        .adopts = plan->adopts,
    };
    if (!plan->python.interpreter[0]) {
        say("no monitor: no Python interpreter beside this executable%s",
            getenv("AUTOFINITY_PYTHON") ? " (AUTOFINITY_PYTHON names none)" : "");
    } else if (options->dry_run) {
        become_dry_run(&request);
    } else {
        monitored = start_monitor(&request, &plan->attached, plan->reason);
        if (!monitored) say("no monitor: %s", plan->reason);
    }
    if (options->explain) {
        char count[16];
        snprintf(count, sizeof count, "%d", threads);
        say("program %s, key %.12s", plan->program.path, plan->program.key);
        say("threads %s; CPUs allowed %s", threads ? count : "not given, so watched",
            plan->allowed_list);
        if (near_node >= 0) say("near %s: hints prefer node %d", options->near, near_node);
        say("policy %s%s%s; database %s; Python %s", plan->policy[0] ? plan->policy : "none",
            plan->policy[0] ? ", " : "", plan->policy[0] ? plan->origin : "",
            use_db ? plan->state.db : "not used", plan->python.interpreter);
        if (use_db && *site_url(options)) say("the finished run is sent to the site's database");
        if (monitored && plan->attached.tier >= 0) {
            char ladder[REASON_CHARS];
            explain_ladder(&plan->attached, ladder, sizeof ladder);
            say("measured by %s (%s)", tier_name(plan->attached.tier), ladder);
        }
    }
    // Bound before exec, so that first touch is right.
    if (known && cpuset_set(plan->application, &plan->known.set)) {
        say("known with %d threads: hint %s, bound to CPUs %s before start", threads,
            hint_shown(plan->known.hint), plan->known.list);
    } else if (crowded) {
        say("known with %d threads: hint %s, not bound before start: other runs claim some of CPUs "
            "%s",
            threads, hint_shown(plan->known.hint), plan->known.list);
    } else if (monitored) {
        tell_tier(plan);
    }
}

static void tell_why_alone(void* what) {
    const Plan* plan = what;
    say_init(plan->options->quiet);
    say("no monitor: %s", plan->reason);
}

static void tell_bluntly(void* what) {
    const Plan* plan = what;
    if (!plan->options->quiet) say_bluntly("no monitor: %s", plan->reason);
}

// Sets everything up; where that is impossible, the application runs alone.
static void set_up(Plan* plan) {
    int killed_by;
    AsideEnd end = find_orphans_home(&plan->adopts, &killed_by);
    if (end == ASIDE_DONE) end = run_aside(prepare, plan, &killed_by);
    if (end == ASIDE_DONE) return;
    explain_aside(end, killed_by, plan->reason);
    end = run_aside(tell_why_alone, plan, &killed_by);
    if (end == ASIDE_DIED) run_aside(tell_bluntly, plan, &killed_by);
    if (end == ASIDE_NONE) tell_why_alone(plan);  // no child could do this
}

static int run(int argc, char** argv) {
    static Options options;
    static Plan plan;
    int code = parse_options(argc, argv, &options);
    if (code >= 0) return code;
    plan.options = &options;
    const char* fallback = getenv("AUTOFINITY_FALLBACK");
    if (!options.fallback && !options.hint && policy_decides(&options) && fallback && *fallback) {
        options.fallback = hint_letters(fallback);
        if (!options.fallback) plan.wrong_fallback = fallback;
    }
    plan.application = getpid();
    if (options.dry_run) {
        prepare(&plan);
        // else it would have become Python
        say("dry run: nothing is known of %s: it is not found, or see above", options.app[0]);
        return 1;
    }
    set_up(&plan);
    execvp(options.app[0], options.app);
    int error = errno;
    // A folder of PATH without read permission makes exec report "not permitted" for a program that
    // exists nowhere.
    if (error == EACCES && !strchr(options.app[0], '/') && !program_exists(options.app[0])) {
        error = ENOENT;
    }
    say_init(false);
    say("cannot run %s: %s", options.app[0], strerror(error));
    return error == ENOENT ? 127 : 126;
}

int main(int argc, char** argv) {
    if (argc >= 2 && strcmp(argv[1], "run") == 0) return run(argc - 2, argv + 2);
    return become_python(argv);
}
