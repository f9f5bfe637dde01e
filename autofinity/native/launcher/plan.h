// The plan of a run: all that is known of it before the application starts.
#pragma once

#include "launcher.h"

// Each part may be missing.
typedef struct {
    const Options* options;
    const char* wrong_fallback;  // value of AUTOFINITY_FALLBACK, where that is no hint
    pid_t application;
    bool adopts;
    Program program;
    bool use_db;
    State state;
    Python python;
    const char* origin;  // source of the policy
    enum Asks asks;      // counters that the policy uses
    char policy[PATH_MAX], digest[DIGEST_CHARS + 1];
    CpuSet allowed;
    CpuSet placeable;  // of these, the CPUs for threads
    char allowed_list[4096];
    const char* no_choice;  // why every hint gives threads the same affinity; NULL: hints differ
    bool sharing_shows;     // page faults may show which threads belong together
    int near_node;          // node that hints prefer; negative: none
    int threads;            // 0: unknown
    LocalRank local;
    Known known;                                    // the decision that is known already
    enum { NOT_KNOWN, CROWDED, FREE } known_cores;  // CROWDED: other runs claim some of them
    Known start;  // seats that an unknown program starts on; `seated` 0: none
    bool seated;  // threads get seats as they are created
    bool monitored;
    Attached attached;  // where it is monitored
    char reason[REASON_CHARS];
} Plan;

// Prepares everything around the process that becomes the application, in a child of it. Nothing in
// there may keep the application from running.
void prepare(void* plan);

// Prints the plan, part by part, for --explain.
void tell_all(const Plan* plan);
// Prints how threads are placed, or why they are not; `bound`: to known cores, already.
void tell_placing(const Plan* plan, bool bound);
