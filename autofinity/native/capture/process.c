// The beginning and the end of the recording.
//
// The environment says what to do (autofinity/capture/run.py sets it):
//   AUTOFINITY_CAPTURE_DIR     folder for the trace; without it the program just runs
//   AUTOFINITY_CAPTURE_ROI     marks (default), parallel or whole
//   AUTOFINITY_CAPTURE_ADDRESSES   steady (default), or own: as the program sees them
//   AUTOFINITY_CAPTURE_AHEAD   accesses a thread may be ahead of another; 0: as the host runs them
#include "process.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "instructions.h"

af_process af;
static af_common common = {.ahead = 50000};
af_common* af_shared = &common;

static void forget_in_child(void) {
    atomic_store(&af_shared->recording, 0);
    af_self = NULL;
}

static void quick(void) { af_finish(); }

static void start_recording(char** arguments) {
    if (atomic_exchange(&af.initialised, 1)) return;
    const char* directory = getenv("AUTOFINITY_CAPTURE_DIR");
    if (directory == NULL || *directory == 0 ||
        strlen(directory) + 40 > sizeof af_shared->directory)
        return;
#ifndef AF_UNDER_PLUGIN
    af_steady_addresses(arguments);
#else
    (void)arguments;  // QEMU maps the program where it likes
#endif
    strcpy(af_shared->directory, directory);
    // One process a trace: the first that comes. Its children run unrecorded.
    char owner[4200];
    snprintf(owner, sizeof owner, "%s/owner", directory);
    const long fd =
        syscall(SYS_openat, AT_FDCWD, owner, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
        if (errno != EEXIST) af_fail("cannot open", owner, errno);
        return;
    }
    syscall(SYS_close, fd);
    af_crc_init(&af_shared->crc);
    af.threads = af_map(AF_MAX_STREAMS * sizeof(af_thread*));
    if (af.threads == NULL) {
        af_fail("out of memory at the start", "", ENOMEM);
        return;
    }
    const char* ahead = getenv("AUTOFINITY_CAPTURE_AHEAD");
    if (ahead != NULL) af_shared->ahead = strtoull(ahead, NULL, 10);
    // Its teams and barriers are calls we do not know: the trace would hold no order.
    if (dlsym(RTLD_DEFAULT, "__kmpc_fork_call") != NULL) {
        af_fail("the program uses LLVM's OpenMP runtime, which cannot be captured;",
                "build it with gcc, for libgomp", ENOTSUP);
        return;
    }
    af_count_instructions();
    const char* roi = getenv("AUTOFINITY_CAPTURE_ROI");
    af.roi_parallel = roi != NULL && strcmp(roi, "parallel") == 0;
    af.roi_marks = roi == NULL || *roi == 0 || strcmp(roi, "marks") == 0;
    const bool whole = roi != NULL && strcmp(roi, "whole") == 0;
    clock_gettime(CLOCK_MONOTONIC, &af.begin);
    pthread_atfork(NULL, NULL, forget_in_child);
    at_quick_exit(quick);
    if (af_shared->failed) return;
    atomic_store(&af_shared->recording, 1);
    af_thread* t = af_thread_new(0);
    if (t == NULL) return;
    af_thread_enter(t);
    if (whole) af_whole_begins();
}

static uint64_t nanoseconds(struct timespec t) {
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void write_index(void) {
    struct timespec now, cpu;
    clock_gettime(CLOCK_MONOTONIC, &now);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const uint32_t streams = atomic_load(&af.streams);
    const size_t body = sizeof(af_index_header) + streams * sizeof(af_index_stream);
    uint8_t* bytes = af_alloc(body + 4);
    af_index_header* header = (af_index_header*)bytes;
    header->magic = AF_INDEX_MAGIC;
    header->version = AF_VERSION;
    header->streams = streams;
    header->flags = (af.roi_parallel ? AF_INDEX_ROI_CANDIDATES : 0) |
                    (af.counted ? AF_INDEX_COUNTED_INSTRUCTIONS : 0) |
                    (af.steady ? AF_INDEX_STEADY_ADDRESSES : 0);
    header->wall_ns = nanoseconds(now) - nanoseconds(af.begin);
    header->cpu_ns = nanoseconds(cpu);
    header->roi_begins = atomic_load(&af.roi_begins);
    header->spins = atomic_load(&af_shared->spins);
    af_index_stream* records = (af_index_stream*)(header + 1);
    for (uint32_t i = 0; i < streams; i++) records[i] = af.threads[i]->record;
    const uint32_t crc = af_crc(&af_shared->crc, 0, bytes, body);
    __builtin_memcpy(bytes + body, &crc, 4);
    char path[4200];
    snprintf(path, sizeof path, "%s/index.aft", af_shared->directory);
    af_append(path, bytes, body + 4);
}

// Whether af_finish is to settle the thread; waits for one that is at its own beginning or end.
static bool take_on(af_thread* t) {
    for (int i = 0; i < 50000; i++) {
        int state = atomic_load(&t->state);
        if (state == 3) return false;
        if (state != 4 && atomic_compare_exchange_strong(&t->state, &state, 3)) return true;
        af_sleep(100);
    }
    return false;  // five seconds in a few lines of ours: it will not come back
}

void af_finish(void) {
    if (!af_recording() || atomic_exchange(&af_shared->finishing, 1)) return;
    af_thread* me = af_mine;
    af_self = NULL;
    // Threads that run see `finishing` at their next look around. Those that wait (pool threads,
    // blocked ones) do not move any more. Whoever does neither within 200 ms sits in a system call.
    for (int i = 0; i < 2000; i++) {
        bool running = false;
        for (uint32_t k = 0; k < atomic_load(&af.streams); k++) {
            af_thread* t = af.threads[k];
            if (t == NULL || t == me) continue;
            const int state = atomic_load(&t->state);
            if (state == 4 ||
                (state == 1 && !atomic_load(&t->blocked) && !atomic_load(&t->stalled)))
                running = true;
        }
        if (!running) break;
        af_sleep(100);
    }
    if (me != NULL) af_roi_finish(me);
    for (uint32_t k = 0; k < atomic_load(&af.streams); k++) {
        af_thread* t = af.threads[k];
        if (t != NULL && take_on(t)) af_thread_settle(t);
    }
    if (af_recording()) write_index();
    atomic_store(&af_shared->recording, 0);
}

// The loader of glibc hands main's arguments to constructors as well.
__attribute__((constructor(101))) static void begin(int count, char** arguments) {
    (void)count;
    start_recording(arguments);
}

__attribute__((destructor(101))) static void end(void) { af_finish(); }

AF_API void _exit(int status) {
    af_finish();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
AF_API void _Exit(int status) { _exit(status); }
