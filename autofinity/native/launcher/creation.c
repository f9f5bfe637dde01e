// Gives threads masks as they are created, so that they touch their memory where they stay. The
// system would spread them in an order of its own.
//
//   SEATS: COUNT*CPULIST;COUNT*CPULIST;…   by number of the thread, from 0
//
// `runtime/creation_seats.py` writes the text. Numbers are those of `linux/thread_roll.py`: that of
// a thread that ended is used again. The first thread is the monitor's to bind: what it starts
// would take over its mask. So does what a seated thread starts: when a thread has another mask
// than the program's own from its start, either a seated thread makes threads, or the program pins
// them. Then all seats are taken back, and this ends. Each thread that has its seat is named to the
// monitor, by a pipe; when the monitor begins to bind threads it closes the pipe, and this ends.
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher.h"

// A look costs some microseconds, so looks get rarer as soon as most programs have their threads.
enum { FIRST_LOOK_MS = 1, LAST_LOOK_MS = 10, RARER_EACH_MS = 400, LOOKS_FOR_MS = 60000 };
enum { MOST_THREADS = 4096 };
// A program that makes threads all the time is left to the monitor: each seat is given so often at
// most, on average.
enum { WAVES = 4 };

// The part that begins at `*at`, and moves on. False: it is no part.
static bool next_part(const char** at, int* count, CpuSet* mask) {
    char list[sizeof((Known*)0)->list];
    char* end;
    long many = **at >= '1' && **at <= '9' ? strtol(*at, &end, 10) : 0;
    if (many < 1 || many > MOST_THREADS || *end != '*') return false;
    size_t chars = strcspn(end + 1, ";");
    if (chars >= sizeof list) return false;
    memcpy(list, end + 1, chars);
    list[chars] = '\0';
    *count = (int)many;
    *at = end + 1 + chars;
    if (**at == ';' && *++*at == '\0') return false;
    return cpuset_parse(list, mask);
}

int count_seats(const char* seats, const CpuSet* within) {
    int count, all = 0;
    CpuSet mask;
    while (*seats) {
        if (!next_part(&seats, &count, &mask) || !cpuset_within(&mask, within)) return 0;
        all += count;
        if (all > MOST_THREADS) return 0;
    }
    return all;
}

bool seat_of(const char* seats, int number, CpuSet* out) {
    int count;
    while (*seats) {
        if (!next_part(&seats, &count, out)) return false;
        if (number < count) return true;
        number -= count;
    }
    return false;
}

// Whether a word of a variable's value may pin threads; `linux/pins.py` asks the same.
static bool word_pins(const char* word, size_t length) {
    static const char* const nothing[] = {
        "",        "false",     "none",     "disabled",   "off",     "no",       "quiet",
        "verbose", "noverbose", "warnings", "nowarnings", "respect", "norespect"};
    static const char granularity[] = "granularity=";
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        if (length == strlen(nothing[i]) && strncasecmp(word, nothing[i], length) == 0) {
            return false;
        }
    }
    return strncasecmp(word, granularity, sizeof granularity - 1) != 0;
}

static bool value_pins(const char* value) {
    while (true) {
        value += strspn(value, " \t");
        size_t all = strcspn(value, ","), length = all;
        while (length > 0 && strchr(" \t", value[length - 1])) length--;
        if (word_pins(value, length)) return true;
        if (!value[all]) return false;
        value += all + 1;
    }
}

bool runtime_pins(void) {
    static const char* const variables[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY",
                                            "KMP_AFFINITY"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char* value = getenv(variables[i]);
        if (value && value_pins(value)) return true;
    }
    return false;
}

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool ended_within(int pidfd, int milliseconds) {
    struct pollfd watch = {.fd = pidfd, .events = POLLIN};
    int got;
    do {
        got = poll(&watch, 1, milliseconds);
    } while (got < 0 && errno == EINTR);
    return got != 0;
}

// Threads of a process in the order of their creation; the number of those that `tids` has room
// for.
static int threads_of(const char* folder, int tids[MOST_THREADS]) {
    DIR* tasks = opendir(folder);
    int found = 0;
    struct dirent* entry;
    while (tasks && found < MOST_THREADS && (entry = readdir(tasks))) {
        if (entry->d_name[0] != '.') tids[found++] = atoi(entry->d_name);
    }
    if (tasks) closedir(tasks);
    return found;
}

// Where `tid` stands; `count`: nowhere.
static int place_of(int tid, const int* tids, int count) {
    int at = 0;
    while (at < count && tids[at] != tid) at++;
    return at;
}

// Whether somebody still reads the pipe.
static bool is_read(int out) {
    struct pollfd watch = {.fd = out};
    return poll(&watch, 1, 0) == 0;
}

// A thread that has ended has no other mask.
static bool has_other_mask(int tid, const CpuSet* own) {
    static CpuSet now;
    return cpuset_of_thread(tid, &now) && !cpuset_equal(&now, own);
}

// Gives the program's mask back to threads that still sit on their seats. `alone`: only the first
// thread is left, as after an exec, when the thread that called it goes on as the first.
static void take_back(const int* threads, int wanted, bool alone, const char* seats,
                      const CpuSet* own) {
    static CpuSet seat, now;
    for (int number = 1; number < wanted; number++) {
        int tid = threads[alone ? 0 : number];
        if (threads[number] && seat_of(seats, number, &seat) && cpuset_of_thread(tid, &now) &&
            cpuset_equal(&now, &seat)) {
            cpuset_set(tid, own);
        }
    }
}

// False: the monitor binds threads itself from now on.
static bool seat_thread(int tid, int number, const char* seats, const CpuSet* own, int out) {
    static CpuSet mask;
    const int32_t named[2] = {tid, number};
    if (!seat_of(seats, number, &mask) || !is_read(out)) return false;
    if (!cpuset_set(tid, &mask)) return true;
    if (write(out, named, sizeof named) == sizeof named) return true;
    if (!has_other_mask(tid, &mask)) cpuset_set(tid, own);
    return false;
}

void seat_threads(pid_t application, int pidfd, const Known* seats, const CpuSet* own, int out) {
    static int tids[MOST_THREADS], threads[MOST_THREADS];  // all now; by number, 0: it is free
    char folder[32];
    int wanted = seats->seated, given = 0;
    bool taken = false;  // all seats: then nobody waits for one
    snprintf(folder, sizeof folder, "/proc/%d/task", (int)application);
    nlink_t links = 0;
    for (long long start = now_ms(), for_ms = 0; for_ms < LOOKS_FOR_MS; for_ms = now_ms() - start) {
        long long pause = FIRST_LOOK_MS + for_ms / RARER_EACH_MS;
        if (taken || pause > LAST_LOOK_MS) pause = LAST_LOOK_MS;
        if (ended_within(pidfd, (int)pause)) return;
        struct stat info;
        if (stat(folder, &info) != 0 || !is_read(out)) return;
        if (info.st_nlink == links) continue;  // one link a thread
        links = info.st_nlink;
        int found = threads_of(folder, tids);
        if (given > 0 && has_other_mask(application, own)) {
            take_back(threads, wanted, found == 1, seats->seats, own);
            return;
        }
        for (int number = 0; number < wanted; number++) {
            if (place_of(threads[number], tids, found) == found) threads[number] = 0;
        }
        // A lone second thread may go on to make all others, as in Java: it is to count the CPUs of
        // the program.
        if (found < 3 && found < wanted) continue;
        for (int i = 0; i < found; i++) {
            if (place_of(tids[i], threads, wanted) < wanted) continue;
            if (tids[i] != application && has_other_mask(tids[i], own)) {
                take_back(threads, wanted, false, seats->seats, own);
                return;
            }
            int number = place_of(0, threads, wanted);
            if (number == wanted || given == WAVES * wanted) return;
            threads[number] = tids[i];
            if (number == 0) continue;
            if (!seat_thread(tids[i], number, seats->seats, own, out)) return;
            given++;
        }
        taken = place_of(0, threads, wanted) == wanted;
    }
}
