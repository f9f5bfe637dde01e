// The beginning and the end of the recording.
//
// Environment variables control the recording (autofinity/capture/recorded_run.py sets them):
//   AUTOFINITY_CAPTURE_DIR     folder for the trace; without it the program just runs
//   AUTOFINITY_CAPTURE_ROI     marks (default), parallel or whole
//   AUTOFINITY_CAPTURE_ADDRESSES   steady (default), or own: as the program sees them
//   AUTOFINITY_CAPTURE_SAMPLE  SPACING,LENGTH,SEED of windows (record/cuts.h); without it all is
//                              recorded. Not for binaries.
//   AUTOFINITY_CAPTURE_MOST_EVENTS   of all threads; a run with more is not recorded to its end
//   AUTOFINITY_CAPTURE_AHEAD   accesses a thread may be ahead of another; 0: as the host runs them
#include "capture/process/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/pace/fair.h"
#include "capture/process/addresses.h"
#include "capture/process/index.h"
#include "capture/process/sampled.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"
#include "capture/threads/instructions.h"
#include "capture/threads/registry.h"
#include "capture/threads/roi.h"
#include "capture/threads/streams.h"

static _Atomic int initialised;
static af_facts facts;
static pid_t recorded;

static void forget_in_child(void) {
    atomic_store(&af_shared->recording, 0);
    af_self = NULL;
}

static af_roi_kind roi_asked_for(void) {
    const char* roi = getenv("AUTOFINITY_CAPTURE_ROI");
    if (roi == NULL || *roi == 0 || strcmp(roi, "marks") == 0) return AF_ROI_MARKS;
    if (strcmp(roi, "parallel") == 0) return AF_ROI_PARALLEL;
    return strcmp(roi, "whole") == 0 ? AF_ROI_WHOLE : AF_ROI_NEVER;
}

// One process per trace: the first that comes. Its children run unrecorded.
static bool claim(const char* directory) {
    char owner[4200];
    snprintf(owner, sizeof owner, "%s/owner", directory);
    const long fd =
        syscall(SYS_openat, AT_FDCWD, owner, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0 && errno != EEXIST) af_fail("cannot open", owner, errno);
    if (fd >= 0) syscall(SYS_close, fd);
    return fd >= 0;
}

// Who has the program recorded may be killed and started again: this run must not go on writing
// into the next one's files. A program of a script may outlive the script's shell.
static void end_with_recorder(void) {
    const char* recorder = getenv("AUTOFINITY_CAPTURE_RECORDER");
    if (recorder == NULL || atoi(recorder) != getppid()) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (atoi(recorder) != getppid()) raise(SIGKILL);  // it has ended in between
}

static void start_recording(char** arguments) {
    if (atomic_exchange(&initialised, 1)) return;
    const char* directory = getenv("AUTOFINITY_CAPTURE_DIR");
    if (directory == NULL || *directory == 0 ||
        strlen(directory) + 40 > sizeof af_shared->directory)
        return;
#ifndef AF_UNDER_PLUGIN
    facts.steady = af_steady_addresses(arguments);
#else
    (void)arguments;  // QEMU chooses the addresses of the program
#endif
    strcpy(af_shared->directory, directory);
    if (!claim(directory)) return;
    end_with_recorder();
    af_crc_init(&af_shared->crc);
    if (!af_registry_open()) {
        af_fail("out of memory at the start", "", ENOMEM);
        return;
    }
    const char* ahead = getenv("AUTOFINITY_CAPTURE_AHEAD");
    if (ahead != NULL) af_shared->ahead = strtoull(ahead, NULL, 10);
    const char* most = getenv("AUTOFINITY_CAPTURE_MOST_EVENTS");
    if (most != NULL) af_shared->most_events = strtoull(most, NULL, 10);
#ifndef AF_UNDER_PLUGIN
    const char* sample = getenv("AUTOFINITY_CAPTURE_SAMPLE");
    if (sample != NULL && *sample != 0 && !af_sampled_begin(sample)) return;
#endif
    // Teams and barriers of this runtime are not interposed: the trace would have no order.
    if (dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != NULL) {
        af_fail("the program uses LLVM's OpenMP runtime, which cannot be captured;",
                "build it with gcc, for libgomp", ENOTSUP);
        return;
    }
    facts.counted = af_count_instructions();
    af_streams_are_counted(facts.counted);
    af_roi_choose(roi_asked_for());
    clock_gettime(CLOCK_MONOTONIC, &facts.begin);
    recorded = getpid();
    pthread_atfork(NULL, NULL, forget_in_child);
    at_quick_exit(af_finish);
    if (af_shared->failed) return;
    atomic_store(&af_shared->recording, 1);
    af_thread* t = af_thread_new(0);
    if (t == NULL) return;
    af_thread_enter(t);
    if (af_roi_chosen() == AF_ROI_WHOLE) af_roi_begin(t);
}

// Whether af_finish has to settle the thread; waits for a thread that is at its own beginning or
// end.
static bool take_on(af_thread* t) {
    for (int i = 0; i < 50000; i++) {
        int life = atomic_load(&t->life);
        if (life == AF_LIFE_SETTLED) return false;
        if (life != AF_LIFE_CHANGES &&
            atomic_compare_exchange_strong(&t->life, &life, AF_LIFE_SETTLED))
            return true;
        af_sleep(100);
    }
    return false;  // five seconds in a few lines of ours: the thread will not continue
}

// Whether the thread may still move. Running threads see `finishing` at their next look around.
// Waiting threads (pool threads, blocked ones) do not move any more.
static bool may_move(af_thread* t) {
    const int life = atomic_load(&t->life);
    return life == AF_LIFE_CHANGES ||
           (life == AF_LIFE_RUNS && !atomic_load(&t->blocked) && !atomic_load(&t->stalled));
}

void af_finish(void) {
    // A child of vfork has this memory, too, until it ends or becomes another program.
    if (!af_recording() || getpid() != recorded) return;
    if (atomic_exchange(&af_shared->finishing, 1)) return;
    af_thread* me = af_mine;
    af_self = NULL;
    // A thread that neither stops nor waits within 200 ms is in a system call.
    for (int i = 0; i < 2000; i++) {
        bool running = false;
        for (uint32_t k = 0; k < af_registry_size(); k++) {
            af_thread* t = af_registry_at(k);
            if (t != NULL && t != me && may_move(t)) running = true;
        }
        if (!running) break;
        af_sleep(100);
    }
    if (me != NULL) af_roi_finish(me);
    for (uint32_t k = 0; k < af_registry_size(); k++) {
        af_thread* t = af_registry_at(k);
        if (t != NULL && take_on(t)) af_thread_settle(t);
    }
    if (af_recording()) af_sampled_write(&facts);
    if (af_recording()) af_write_index(&facts);
    atomic_store(&af_shared->recording, 0);
}

// The loader of glibc also passes main's arguments to constructors.
__attribute__((constructor(101))) static void begin(int count, char** arguments) {
    (void)count;
    start_recording(arguments);
}

__attribute__((destructor(101))) static void end(void) { af_finish(); }
