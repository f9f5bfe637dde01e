// Finds what a run needs, part by part, and starts the monitor.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan.h"

static const char* absolute(const char* path, char out[PATH_MAX]) {
    return path && *path && realpath(path, out) ? out : NULL;
}

// False: the policy that was asked for is no policy; the reason has been printed.
static bool find_policy(Plan* plan) {
    const Options* options = plan->options;
    static PolicyChoice chosen;
    if (options->hint) return true;  // no policy is needed
    bool found = choose_policy(options->policy, &plan->python, &chosen, plan->reason);
    if (found && !chosen.path[0]) return true;  // tell_placing prints this
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

static void find_database(Plan* plan) {
    const Options* options = plan->options;
    if (!options->use_db) return;
    find_state(options, &plan->state);
    const char* name = plan->state.db;
    bool lost = options->db && !*name;
    if (lost) {
        name = options->db;
        snprintf(plan->reason, REASON_CHARS, "the present folder is gone, or the path is too long");
    }
    if (lost || !check_database(&plan->state, plan->reason)) {
        say("the behaviour database %s%sis not used: %s", name, *name ? " " : "", plan->reason);
        return;
    }
    plan->use_db = true;
    const char* site = options->db || options->site ? NULL : getenv(SITE_VARIABLE);
    if (site && *site && !*site_url(options)) {
        say(SITE_VARIABLE " is no postgresql:// URL: the run is not sent");
    }
}

// False: the CPUs are not known, and the reason has been printed.
static bool find_cpus(Plan* plan) {
    const Options* options = plan->options;
    trying("sched_getaffinity");
    if (!cpuset_get(&plan->allowed) ||
        !cpuset_format(&plan->allowed, plan->allowed_list, sizeof plan->allowed_list)) {
        say("nothing is bound: the CPUs allowed to this process cannot be read");
        return false;
    }
    balanced_cpus(&plan->allowed, &plan->placeable);
    bool undecided = policy_decides(options) && !options->hint && options->bind_threads;
    const char* why = undecided ? nothing_to_choose(&plan->placeable) : NULL;
    plan->no_choice = strcmp(options->bind, "llc") == 0 ? why : NULL;
    plan->sharing_shows = undecided && !why && hinting_is_on();
    plan->near_node = find_near_node(options->near);
    return true;
}

// A thread count is bound before exec only when it is promised: a runtime that counts the CPUs it
// may use must not find fewer because of us. A runtime that pins threads chooses among all CPUs.
// Ranks begin together, and would all be bound to the same CPUs. Known cores are those of runs
// without a device.
static void find_known_cores(Plan* plan) {
    const Options* options = plan->options;
    plan->threads = options->threads ? options->threads : threads_from_environment();
    find_local_rank(&plan->local);
    bool known_before = plan->use_db && options->bind_threads && policy_decides(options) &&
                        plan->threads > 0 && plan->near_node < 0 && plan->digest[0] &&
                        plan->local.ranks < 2 && !runtime_pins();
    if (!known_before) return;
    if (find_decision(&plan->state, plan->program.key, plan->threads, plan->digest, options->bind,
                      &plan->placeable, &plan->known)) {
        // Where others claim some, the monitor looks for cores beside them.
        plan->known_cores = claimed_by_others(&plan->state, &plan->known.set) ? CROWDED : FREE;
        return;
    }
    trying("perf_event_open");
    // Without counters an unknown program stays as it is. Programs that begin together are to share
    // caches, not cores, until their monitors know of each other.
    if (hardware_refusal() || strcmp(options->bind, "llc") != 0) return;
    if (find_starting_seats(&plan->state, plan->threads, options->bind, &plan->placeable,
                            &plan->start) &&
        claimed_by_others(&plan->state, &plan->start.set)) {
        plan->start.seated = 0;
    }
}

// Seats that threads get as they are created; NULL: none.
static const Known* creation_seats(const Plan* plan) {
    const Known* from = plan->known_cores == FREE ? &plan->known : &plan->start;
    return from->seated > 0 ? from : NULL;
}

static void monitor(Plan* plan) {
    MonitorRequest request = {
        .options = plan->options,
        .program = &plan->program,
        .python = &plan->python,
        .state = plan->use_db ? &plan->state : NULL,
        .policy = plan->policy[0] ? plan->policy : NULL,
        .origin = plan->origin,
        .bound = plan->known_cores == FREE ? plan->known.list : NULL,
        .seats = creation_seats(plan),
        .own = plan->known_cores == FREE ? &plan->known.set : &plan->allowed,
        .allowed = plan->allowed_list,
        .near_node = plan->near_node,
        .threads = plan->threads,
        .local = plan->local,
        .application = plan->application,
        .adopts = plan->adopts,
    };
    clock_gettime(CLOCK_REALTIME, &request.started);
    if (!plan->python.interpreter[0]) {
        say("no monitor: no Python interpreter beside this executable%s",
            getenv("AUTOFINITY_PYTHON") ? " (AUTOFINITY_PYTHON names none)" : "");
    } else if (plan->options->dry_run) {
        become_dry_run(&request);
    } else {
        plan->monitored = start_monitor(&request, &plan->attached, plan->reason);
        plan->seated = plan->monitored && request.seats;
        if (!plan->monitored) say("no monitor: %s", plan->reason);
    }
}

void prepare(void* what) {
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
    find_database(plan);
    trying(NULL);
    find_python(&plan->python);
    if (!find_policy(plan) || !find_cpus(plan)) return;
    find_known_cores(plan);
    monitor(plan);
    if (options->explain) tell_all(plan);
    // Bound before exec, so that first touch is right.
    tell_placing(plan,
                 plan->known_cores == FREE && cpuset_set(plan->application, &plan->known.set));
}
