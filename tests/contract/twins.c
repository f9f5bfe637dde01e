// Prints the launcher's answer to a case of tests/support/twin_cases.toml, asked by words.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/launcher.h"

static int sha256(void) {  // of standard input
    Sha256 hash;
    char part[777], digest[DIGEST_CHARS + 1];
    sha256_init(&hash);
    for (size_t got; (got = fread(part, 1, sizeof part, stdin)) > 0;) sha256_add(&hash, part, got);
    sha256_hex(&hash, digest);
    return puts(digest);
}

static int cpus(char** words) {
    CpuSet set;
    char list[4096] = "no list";
    if (cpuset_parse(words[0], &set) && !cpuset_format(&set, list, sizeof list)) return -1;
    return puts(list);
}

static int machine(void) {
    char key[MACHINE_CHARS + 1];
    machine_key(key);
    return puts(key);
}

static int program(char** words) {
    static Program found;
    return find_program(words, &found) ? printf("%s\n%s\n", found.path, found.key) : -1;
}

static int folders(char** words) {
    static Options options;
    static State state;
    static Python python;
    static PolicyChoice own;
    char reason[REASON_CHARS] = "";
    options.db = words[0];
    find_state(&options, &state);
    if (words[0]) check_database(&state, reason);
    choose_policy(NULL, &python, &own, reason);
    return printf("%s\n%s\n%s\n%s\n%s\n", state.db, state.decisions, state.claims, own.path,
                  reason);
}

static int claimed(char** words) {
    static State state;
    CpuSet set;
    snprintf(state.claims, PATH_MAX, "%s", words[0]);
    return cpuset_parse(words[1], &set) ? puts(claimed_by_others(&state, &set) ? "yes" : "no") : -1;
}

static int decision(char** words) {
    static State state;
    static Known known;
    CpuSet allowed;
    snprintf(state.decisions, PATH_MAX, "%s", words[0]);
    if (!cpuset_parse(words[5], &allowed)) return -1;
    bool found =
        find_decision(&state, words[1], atoi(words[2]), words[3], words[4], &allowed, &known);
    return found ? printf("%s %s\n", known.hint, known.list) : puts("unknown");
}

// Masks by number of the thread, one a line.
static int seats(char** words) {
    static CpuSet within, mask;
    static char list[4096];
    if (!cpuset_parse(words[1], &within)) return -1;
    int threads = count_seats(words[0], &within);
    printf("%d\n", threads);
    for (int number = 0; number < threads; number++) {
        if (!seat_of(words[0], number, &mask) || !cpuset_format(&mask, list, sizeof list))
            return -1;
        puts(list);
    }
    return 0;
}

static int pins(void) { return puts(runtime_pins() ? "yes" : "no"); }

static int hint(char** words) {
    const char* letters = hint_letters(words[0]);
    return letters ? printf("%s\n%s\n", letters, hint_shown(letters)) : puts("no hint");
}

// Meaning of a text after --db: the kind, the URL of the site, and as much as others still see.
static int database(char** words) {
    char* text = words[0];
    Options options = {.db = NULL};
    if (is_other_url(text)) return puts("another URL");
    if (!is_site(text)) {
        options.db = text;
        return printf("file\n%s\n", site_url(&options));
    }
    options.site = taken_from_sight(text);
    return printf("site\n%s\n%s\n", site_url(&options), text);
}

static int site_set(void) {
    Options options = {.db = NULL};
    return puts(site_url(&options));
}

static int policy(char** words) {
    char digest[DIGEST_CHARS + 1], reason[REASON_CHARS];
    enum Asks asks;
    return puts(check_policy_file(words[0], digest, &asks, reason) ? digest : reason);
}

static int asks(char** words) {
    static const char* const names[] = {"nothing", "software", "hardware"};
    char digest[DIGEST_CHARS + 1], reason[REASON_CHARS];
    enum Asks found;
    bool good = check_policy_file(words[0], digest, &found, reason);
    return puts(good ? names[found] : reason);
}

static int chosen(char** words) {  // package, and what the user says
    static Python python;
    static PolicyChoice found;
    char reason[REASON_CHARS] = "";
    snprintf(python.package, PATH_MAX, "%s", words[0]);
    bool good = choose_policy(words[1], &python, &found, reason);
    return good ? printf("%s\n%s\n", found.path, found.origin) : printf("refused\n%s\n", reason);
}

static int here(void) {  // the CPU's name and the shape
    char cpu[MODEL_CHARS];
    Shape shape;
    cpu_model(cpu);
    if (!machine_shape(&shape)) return printf("%s\nuneven\n", cpu);
    return printf("%s\n%d %d %d %d\n", cpu, shape.sockets, shape.nodes, shape.llcs_per_socket,
                  shape.cores_per_llc);
}

static int choice(char** words) {  // why these CPUs leave none
    CpuSet set;
    if (!cpuset_parse(words[0], &set)) return -1;
    const char* why = nothing_to_choose(&set);
    return puts(why ? why : "some");
}

static int balanced(char** words) {
    CpuSet set, found;
    char list[4096];
    if (!cpuset_parse(words[0], &set)) return -1;
    balanced_cpus(&set, &found);
    return cpuset_format(&found, list, sizeof list) ? puts(list) : -1;
}

static int ladder(char** words) {  // with an errno: as if hardware counters were refused with it
    Attached attached;
    Counters counters;
    char text[REASON_CHARS];
    attach(getpid(), words[0] ? atoi(words[0]) : hardware_refusal(), &attached, &counters);
    explain_ladder(&attached, text, sizeof text);
    return printf("%s\n%s\n", tier_name(attached.tier), text);
}

static int tiers(void) {
    for (int tier = TIER_MEMORY; tier <= TIER_TOPOLOGY; tier++) puts(tier_name(tier));
    return 0;
}

// The sanitizer's settings, also where a case gives the environment: what a process keeps to its
// end is no leak.
const char* __asan_default_options(void);
const char* __asan_default_options(void) { return "detect_leaks=0"; }

static int environment(char** words) {
    static Python python;
    snprintf(python.interpreter, PATH_MAX, "%s", words[0]);
    for (char** entry = python_environment(&python, false, NULL); *entry; entry++) puts(*entry);
    return 0;
}

static int device(char** words) {  // its node, and the names there are
    char names[4096];
    device_names(names, sizeof names);
    return printf("%d\n%s\n", device_node(words[0]), names);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    char** words = argv + 2;
    int done = -1;
    if (!strcmp(what, "sha256")) done = sha256();
    if (!strcmp(what, "cpus")) done = cpus(words);
    if (!strcmp(what, "machine")) done = machine();
    if (!strcmp(what, "program")) done = program(words);
    if (!strcmp(what, "folders")) done = folders(words);
    if (!strcmp(what, "claimed")) done = claimed(words);
    if (!strcmp(what, "decision")) done = decision(words);
    if (!strcmp(what, "seats")) done = seats(words);
    if (!strcmp(what, "pins")) done = pins();
    if (!strcmp(what, "hint")) done = hint(words);
    if (!strcmp(what, "database")) done = database(words);
    if (!strcmp(what, "site_set")) done = site_set();
    if (!strcmp(what, "policy")) done = policy(words);
    if (!strcmp(what, "asks")) done = asks(words);
    if (!strcmp(what, "chosen")) done = chosen(words);
    if (!strcmp(what, "here")) done = here();
    if (!strcmp(what, "choice")) done = choice(words);
    if (!strcmp(what, "balanced")) done = balanced(words);
    if (!strcmp(what, "ladder")) done = ladder(words);
    if (!strcmp(what, "environment")) done = environment(words);
    if (!strcmp(what, "device")) done = device(words);
    if (!strcmp(what, "tiers")) done = tiers();
    if (!strcmp(what, "pmu")) done = puts(has_memory_pmu(words[0]) ? "yes" : "no");
    return done < 0;
}
