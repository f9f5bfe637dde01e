// Lines for people, before the application starts.
#include <stdio.h>

#include "plan.h"

static const char TRAIN[] =
    "; `autofinity train --machine host` trains one, --policy NAME uses another machine's";
static const char DOCTOR[] = "; `autofinity doctor` shows how to enable counters";

// Placement of threads when nothing is decided.
static const char* undecided(const Plan* plan) {
    static char text[96];
    if (plan->options->fallback) {
        snprintf(text, sizeof text, "to be placed by the fallback, %s",
                 hint_shown(plan->options->fallback));
        return text;
    }
    return plan->local.ranks > 1
               ? "threads stay where the system puts them, within the CPUs of their rank"
               : "threads stay where the system puts them";
}

static void tell_without_policy(const Plan* plan, const char* only) {
    say("there is no policy for this machine: %s%s", undecided(plan), *only ? only : TRAIN);
}

static void tell_blind(const Plan* plan, const char* only) {
    const Options* options = plan->options;
    say("no counter of the policy's rules can be measured here: %s%s%s", undecided(plan),
        options->fallback || !plan->sharing_shows ? "" : " until page faults show sharing",
        *only               ? only
        : options->fallback ? ""
                            : DOCTOR);
}

// Two lines of a terminal at most: `autofinity explain last` has the reasons.
static void tell_tier(const Plan* plan) {
    const Options* options = plan->options;
    const Attached* attached = &plan->attached;
    char only[128] = "";
    const char* why = options->bind_threads ? plan->no_choice : "nothing is bound (--bind none)";
    if (why) snprintf(only, sizeof only, "; %s", why);
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

void tell_all(const Plan* plan) {
    const Options* options = plan->options;
    char count[16];
    snprintf(count, sizeof count, "%d", plan->threads);
    say("program %s, key %.12s", plan->program.path, plan->program.key);
    say("threads %s; CPUs allowed %s", plan->threads ? count : "not given, so watched",
        plan->allowed_list);
    if (plan->near_node >= 0) say("near %s: hints prefer node %d", options->near, plan->near_node);
    say("policy %s%s%s; database %s; Python %s", plan->policy[0] ? plan->policy : "none",
        plan->policy[0] ? ", " : "", plan->policy[0] ? plan->origin : "",
        plan->use_db ? plan->state.db : "not used", plan->python.interpreter);
    if (plan->use_db && *site_url(options)) say("the finished run is sent to the site's database");
    if (plan->monitored && plan->attached.tier >= 0) {
        char ladder[REASON_CHARS];
        explain_ladder(&plan->attached, ladder, sizeof ladder);
        say("measured by %s (%s)", tier_name(plan->attached.tier), ladder);
    }
}

void tell_placing(const Plan* plan, bool bound) {
    const Known* known = &plan->known;
    if (bound) {
        say("known with %d threads: hint %s, bound to CPUs %s before start%s", plan->threads,
            hint_shown(known->hint), known->list,
            plan->seated ? ", threads one by one as they are created" : "");
    } else if (plan->known_cores == CROWDED) {
        say("known with %d threads: hint %s, not bound before start: other runs claim some of CPUs "
            "%s",
            plan->threads, hint_shown(known->hint), known->list);
    } else if (plan->monitored) {
        tell_tier(plan);
    }
}
