// What the kernels share: arguments, memory, numbers, parts, threads, and the marks of the region
// of interest.
#ifndef KERNEL_H
#define KERNEL_H

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define MOST_THREADS 384
#define LINE_BYTES 64

// Whoever records or measures the region defines these; else they are null.
extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));

static inline void begin_region(void) {
    if (autofinity_roi_begin != NULL) autofinity_roi_begin();
}

static inline void end_region(void) {
    if (autofinity_roi_end != NULL) autofinity_roi_end();
}

// Argument number `place`, a whole number from `least` to `most`. Ends the program with 2
// otherwise.
static inline long whole(int argc, char** argv, int place, const char* what, long least,
                         long most) {
    char* rest = NULL;
    const long number = place < argc ? strtol(argv[place], &rest, 10) : 0;
    if (rest == NULL || rest == argv[place] || *rest != '\0' || number < least || number > most) {
        fprintf(stderr, "%s: argument %d is %s, expected a whole number from %ld to %ld\n", argv[0],
                place, what, least, most);
        exit(2);
    }
    return number;
}

// Pages that nobody has touched yet: each lies where the thread sits that writes it first.
static inline void* untouched(size_t bytes) {
    void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(2);
    }
    return pages;
}

// A number that looks random and is the same for the same `place` always (MurmurHash3's last step).
static inline uint64_t scrambled(uint64_t place) {
    uint64_t bits = place + 0x2545f4914f6cdd1du;
    bits = (bits ^ bits >> 33) * 0xff51afd7ed558ccdu;
    bits = (bits ^ bits >> 33) * 0xc4ceb9fe1a85ec53u;
    return bits ^ bits >> 33;
}

// The same from 0 to 1, 1 left out.
static inline double scrambled_unit(uint64_t place) {
    return (double)(scrambled(place) >> 12) / 4503599627370496.0;
}

// Where part `part` of `parts` begins, of `count` things in a row.
static inline long part_begin(long count, long part, long parts) {
    const long each = count / parts, left = count % parts;
    return part * each + (part < left ? part : left);
}

// Says what came out, and gives what main returns.
static inline int verdict(int right, const char* format, ...) {
    va_list figures;
    va_start(figures, format);
    fputs(right ? "ok " : "wrong: ", stdout);
    vprintf(format, figures);
    putchar('\n');
    va_end(figures);
    return !right;
}

// Threads of POSIX: the caller is number 0. `work` gets its number, and `job`.
struct team_member {
    void (*work)(int number, void* job);
    int number;
    void* job;
};

static inline void* join_team(void* given) {
    struct team_member* member = (struct team_member*)given;
    member->work(member->number, member->job);
    return NULL;
}

static inline void work_as_team(int threads, void (*work)(int, void*), void* job) {
    static pthread_t id[MOST_THREADS];
    static struct team_member member[MOST_THREADS];
    for (int t = 0; t < threads; ++t) {
        member[t] = (struct team_member){work, t, job};
        if (t > 0 && pthread_create(&id[t], NULL, join_team, &member[t]) != 0) {
            fprintf(stderr, "cannot start thread %d\n", t);
            exit(2);
        }
    }
    join_team(&member[0]);
    for (int t = 1; t < threads; ++t) pthread_join(id[t], NULL);
}

// Each thread of a team has filled what is its own; then the region begins, for all at once.
static inline void begin_region_together(int number, pthread_barrier_t* all) {
    pthread_barrier_wait(all);
    if (number == 0) begin_region();
    pthread_barrier_wait(all);
}

static inline void end_region_together(int number, pthread_barrier_t* all) {
    pthread_barrier_wait(all);
    if (number == 0) end_region();
    pthread_barrier_wait(all);
}

#endif
