/* Affinity policy, written by autofinity. Do not edit: learn or export it again.
 * machine: tlb-simulated
 * autofinity: 0.1.0
 * action_table_rows: 20
 *
 * Where should the threads of a program sit? Measure the counters below over a second or so of
 * parallel work, divide each by the number of threads and by the seconds, and ask:
 *
 *     double sample[] = { llc_misses, llc_requests };
 *     enum autofinity_hint hint = autofinity_decide(sample);
 *
 * C99 or later and C++98 or later; no allocation, no state, no library. A value that was not
 * measured is NaN: no condition on it holds (do not compile with -ffinite-math-only then).
 */
#ifndef AUTOFINITY_POLICY_H_autofinity
#define AUTOFINITY_POLICY_H_autofinity

#ifndef AUTOFINITY_HINT_DEFINED
#define AUTOFINITY_HINT_DEFINED
/* S: spread over sockets, L: spread over last-level caches, P: the wish about sockets comes first.
 * A capital letter is a yes, so that AUTOFINITY_sLp spreads over the caches of few sockets.
 */
enum autofinity_hint {
    AUTOFINITY_SLP = 0,
    AUTOFINITY_SLp = 1,
    AUTOFINITY_SlP = 2,
    AUTOFINITY_Slp = 3,
    AUTOFINITY_sLP = 4,
    AUTOFINITY_sLp = 5,
    AUTOFINITY_slP = 6,
    AUTOFINITY_slp = 7
};
#endif

/* Values of a sample, and rules before the default. */
enum {
    autofinity_counter_count = 2,
    autofinity_rule_count = 2
};

/* Names of the counters in the order of a sample, then a null pointer. */
static inline const char *const *autofinity_counters(void) {
    static const char *const names[autofinity_counter_count + 1] = {
        "llc_misses",
        "llc_requests",
        0};
    return names;
}

/* Number of the rule that decides, from 0, or -1 for the default. */
static inline int autofinity_rule(const double sample[]) {
    double missing = 0.0;
    double ratio[1];
    missing /= missing; /* NaN, without a library */
    /* llc_miss_share */
    ratio[0] = sample[1] > 0.0 ? 1.0 * (sample[0]) / (sample[1]) : missing;
    /* Slp if llc_miss_share <= 0.2131 */
    if (ratio[0] <= 0.21307959750166444) return 0;
    /* Slp if 0.4556 < llc_miss_share <= 0.5985 */
    if (ratio[0] > 0.45559219402544693 && ratio[0] <= 0.5984763698251687) return 1;
    (void)sample;
    return -1;
}

/* The hint for a sample. */
static inline enum autofinity_hint autofinity_decide(const double sample[]) {
    static const enum autofinity_hint hints[autofinity_rule_count + 1] = {
        AUTOFINITY_SLP,
        AUTOFINITY_Slp,
        AUTOFINITY_Slp};
    return hints[autofinity_rule(sample) + 1];
}

/* Some answers move the threads on a guess about what sharing does. Where autofinity_asks_second
 * says so, place the threads by autofinity_second_in, measure again, and take the answer of
 * autofinity_second.
 */
enum { autofinity_second_rule_count = 1 };

/* The hint in whose affinity the second sample is taken. */
static inline enum autofinity_hint autofinity_second_in(void) {
    return AUTOFINITY_slP;
}

/* Whether to look again after this answer. */
static inline int autofinity_asks_second(enum autofinity_hint hint) {
    return hint == AUTOFINITY_SLp || hint == AUTOFINITY_SlP || hint == AUTOFINITY_Slp || hint == AUTOFINITY_sLP || hint == AUTOFINITY_sLp || hint == AUTOFINITY_slP || hint == AUTOFINITY_slp;
}

/* Number of the rule of the second look that decides, or -1; both samples hold the same counters. */
static inline int autofinity_second_rule(const double sample[], const double probe[]) {
    double missing = 0.0;
    double ratio[1];
    missing /= missing; /* NaN, without a library */
    /* llc_requests_gain */
    ratio[0] = sample[1] > 0.0 ? 1.0 * (probe[1]) / (sample[1]) : missing;
    /* SLP if llc_requests_gain <= 1.013 */
    if (ratio[0] <= 1.0126885819423623) return 0;
    (void)sample;
    (void)probe;
    return -1;
}

/* The last word: `probe` was measured in the affinity of autofinity_second_in. */
static inline enum autofinity_hint autofinity_second(const double sample[],
                                                       const double probe[]) {
    static const enum autofinity_hint hints[autofinity_second_rule_count + 1] = {
        AUTOFINITY_Slp,
        AUTOFINITY_SLP};
    return hints[autofinity_second_rule(sample, probe) + 1];
}

/* Optional: tell autofinity that a fixed amount of useful work is done, so that spinning is not
 * taken for progress. Define AUTOFINITY_WITH_HEARTBEAT before including this header (gcc and clang). A
 * call costs one test of a pointer when nobody listens.
 */
#if defined(AUTOFINITY_WITH_HEARTBEAT) && !defined(AUTOFINITY_HEARTBEAT_DEFINED)
#define AUTOFINITY_HEARTBEAT_DEFINED
#ifdef __cplusplus
extern "C" void autofinity_heartbeat(void) __attribute__((weak));
#else
extern void autofinity_heartbeat(void) __attribute__((weak));
#endif
static inline void autofinity_beat(void) {
    if (autofinity_heartbeat) autofinity_heartbeat();
}
#endif

#endif
