// The runtime's record of each thread of the program. All data that accesses and synchronisation
// touch is in this record, so that no look-up elsewhere is needed.
//
// The folders of the runtime are its layers. A file includes, calls and uses what lies in its own
// folder or in one further down, never further up:
//
//   interpose/  what the program calls in place of the real thing: accesses and atomics of compiled
//               code, mem*, read, pthread_*, sem_*; in interpose/openmp/ libgomp's functions
//   process/    begin and end of a recording
//   threads/    thread records and their lives; regions of interest; counts of instructions
//   order/      the order that a replay must keep: locks, awaits, writes to atomics
//   record/     the buffer of a thread: accesses and events to slots, slots to files; windows of a
//               sampled capture
//   warm/       between windows: lines that each thread touched last, first touches of pages
//   pace/       progress of threads: fairness, and loops that only wait
//   state/      the data of the layers above, failures, memory
//
// (One exception cannot be avoided: functions that our libraries call, such as memcpy, are
// interposed, too.)
#pragma once

#ifndef _GNU_SOURCE
#error "compile with -D_GNU_SOURCE"
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/state/attributes.h"
#include "capture/state/slot.h"
#include "trace/codec.h"
#include "trace/sampled_format.h"

enum {
    AF_SLOTS = AF_ROOM_EVENTS - 1,  // events between two encodings
    AF_SPARE_SLOTS = 4,             // behind them, for signal handlers that find no room
    AF_OPEN = 128,                  // lines that can be open at a time
    AF_PERIOD = 4096,  // accesses between two looks around (fairness, end of the program)
    AF_OUT_BYTES = sizeof(af_chunk_header) + AF_PAYLOAD_BYTES,
    AF_WINDOW = 4,  // atomics a polling loop may alternate between
    AF_AWAITED = 64,
    AF_HELD = 16,
    AF_RELAXED = 4,
    AF_STANDING = 64,
    AF_BESIDE_FENCE = 4,  // accesses after a fence that may belong to a flag
};

typedef struct af_poll {
    uintptr_t address;
    uint64_t value;
} af_poll;

// A loop whose chunks are distributed at run time (interpose/openmp/units.c).
typedef struct af_loop {
    bool active;  // its chunks are units
    bool up, is_unsigned;
    int kind;
    uint32_t team_size;
    uint32_t dimensions;  // of a doacross loop, otherwise 0
    uint64_t start, end, step, chunk;
    uint64_t total;  // iterations
    uint64_t instance;
    uint64_t guided_position, guided_ordinal;
} af_loop;

// The event by which a thread took a lock that it holds, or began a unit of work that it is in.
typedef struct af_standing {
    uint64_t value;
    uint16_t aux;
    uint8_t kind;  // AF_LOCK or AF_UNIT_BEGIN
} af_standing;

// A thread's work in a window.
typedef struct af_window_note {
    uint32_t window;
    af_window_stream stream;
} af_window_note;

// Events on their way to a file of chunks.
typedef struct af_track {
    af_encoder* encoder;     // NULL: the track is not kept
    uint64_t until;          // instruction count of the last encoded event
    af_index_stream record;  // of the file
} af_track;

struct af_recency;
struct af_team;
struct af_task;
struct af_mutex;
struct af_rwlock;

// A mutex that a thread holds, and its number in the trace.
typedef struct af_held {
    struct af_mutex* mutex;
    uint64_t id;
} af_held;

// A read-write lock that a thread holds (interpose/rwlocks.c).
typedef struct af_section {
    struct af_rwlock* lock;
    uint64_t id;        // of the lock in the trace
    uint64_t pending;   // number of the first slot that may become an await
    uint32_t pendings;  // number of such slots
    uint32_t depth;     // times that a reader has taken it
    uint32_t mutexes;   // mutexes that the thread held then
    uint64_t posts;     // posts that the thread had made
    bool ordered;       // it must come after earlier sections
} af_section;

// State of a thread's life. The last events of a thread are written either by the thread, or by
// af_finish for a stopped thread; the first to change this state writes them.
typedef enum af_life {
    AF_LIFE_CREATED,
    AF_LIFE_RUNS,
    AF_LIFE_STOPPED,  // stopped at the end of the program
    AF_LIFE_SETTLED,  // all is written, or being written by af_finish
    AF_LIFE_CHANGES,  // between two of these, at its begin or end
} af_life;

typedef struct af_thread {
    // Fields that every access touches.
    uint64_t now;      // instructions so far
    uint32_t cost;     // instructions charged per access when they are not counted
    int32_t budget;    // accesses until the next look around
    af_slot* floor;    // slots below are closed (af_access_quick)
    uint64_t pointer;  // result of the last load of 8 bytes, unless a slot was filled since: a
                       // possible base address
    af_slot* next;     // the first free slot
    af_slot* limit;    // from here on, slots are filled only after af_make_room_apart
    af_slot* closed;   // slots below are closed
    uint16_t busy;     // nested sections that a signal handler must not come into (af_shut)
    uint16_t telling;  // writes that others may have seen and whose events are not recorded yet

    uint64_t base;      // slots encoded so far: base + index is a slot's permanent number
    uint64_t posts;     // of all kinds: unlocks, signals, …
    uint64_t accesses;  // up to the last look around
    uint32_t number;    // of the stream
    uint32_t parent;
    uint64_t roi_accesses, roi_instructions;  // sums over finished regions
    uint64_t roi_from_accesses, roi_from_instructions;

    // Polling (pace/polling.c).
    af_poll window[AF_WINDOW];
    uint32_t window_n;
    bool fences;           // has made a release fence: its relaxed stores may release
    uint8_t beside_fence;  // next accesses that may belong to a flag
    uint32_t polls;        // in a row, without progress
    uint64_t window_seq;   // position after which only polls were recorded
    uint64_t window_now;
    // State of a volatile that the thread polled: its write may have come after the thread's read.
    _Atomic uint64_t* unsettled;
    void (*settle)(struct af_thread*);
    uint64_t awaited[AF_AWAITED];  // recent awaits: one per token is enough
    uint64_t relaxed[AF_RELAXED];  // recent relaxed loads (interpose/atomics.c), in a ring
    uint32_t relaxed_n;

    // Mutexes that the thread holds, outermost first (order/exclusion.c).
    af_held held[AF_HELD];
    uint32_t held_n;
    af_section sections[AF_HELD];  // outermost first
    uint32_t sections_n;

    // Fairness (pace/fair.c).
    _Atomic uint64_t progress;
    _Atomic int blocked;  // nested waits for another thread, in calls that are known
    _Atomic int stalled;  // waiting at an unknown place: others no longer wait for it
    uint64_t least_then;  // progress of the slowest other thread as the wait began
    // The thread waits until `*gate` reaches `gate_need`: from then on it counts, though it may
    // sleep.
    _Atomic(_Atomic uint64_t*) gate;
    uint64_t gate_need;
    // Or the thread waits for tasks to run: it counts while there are tasks.
    _Atomic(_Atomic int64_t*) work;
    int seat;

    // Life (threads/streams.c, interpose/threads.c).
    struct af_thread** self;  // address of the thread's `af_self`
    _Atomic int tid;          // number in the kernel; 0 until it runs
    _Atomic pthread_t handle;
    _Atomic int life;  // one of af_life
    _Atomic bool joined;
    int destructor_rounds;
    uint64_t begin_token, end_token;
    void* (*start)(void*);
    void* argument;
    uint64_t signals;  // the kernel's mask of blocked signals that it begins with
    bool unblocks;     // whether it has to set that mask

    // OpenMP (interpose/openmp/).
    struct af_team* team;
    struct af_team* spare_teams;
    uint64_t share;  // worksharing constructs met in this team
    uint64_t unit;   // open unit + 1, or 0
    uint64_t unit_value;
    af_loop loop;
    struct af_task* task;  // the task that it runs
    bool parked;           // waits in libgomp's pool, between two regions

    af_open_line open[AF_OPEN];
    af_slot* slots;

    // Files.
    af_track stream;
    uint8_t* out;  // a sealed chunk before it is written

    // Sampled capture (record/windows.c).
    struct af_recency* recency;         // NULL: everything is recorded
    af_slot* warmed;                    // accesses in lower slots are in `recency`
    uint32_t stamp;                     // coarse clock at its last look around
    af_interval did;                    // work since it was last recorded (warm/history.c)
    uint64_t did_until;                 // instructions at that time
    uint64_t counted;                   // accesses that are part of all threads' work, or before it
    uint64_t epoch;                     // the epoch that it has passed to
    bool woke;                          // ended a wait during which the epoch changed
    af_standing standing[AF_STANDING];  // outermost first
    uint32_t standing_n;
    af_window_note* windows;
    uint32_t windows_n, windows_room;
    uint64_t warm_bytes;     // size of its file of snapshots
    uint64_t warm_accesses;  // accesses at its last snapshot
    // Events of the whole run that are no accesses (record/skeleton.c).
    af_track skeleton;
    af_slot* sketched;  // events in lower slots are in the skeleton
    uint64_t got_to;    // work of all threads in the region, at its last look around
    uint64_t marked;    // work at the skeleton's last mark
} af_thread;

// The thread's accesses so far.
static inline uint64_t af_accesses_of(const af_thread* t) {
    return t->accesses + (uint64_t)(AF_PERIOD - t->budget);
}

// Around encoding, and around locks of the runtime: a signal handler would find slots half encoded,
// or wait for a lock of its own thread. It synchronises unheard meanwhile.
static inline void af_shut(af_thread* t) {
    t->busy++;
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void af_open(af_thread* t) {
    atomic_signal_fence(memory_order_seq_cst);
    t->busy--;
}

// Around a write and its events: others may see the write before the post is recorded, so that no
// handler's events may come between.
static inline void af_begin_telling(af_thread* t) {
    t->telling++;
    atomic_signal_fence(memory_order_seq_cst);
}
static inline void af_end_telling(af_thread* t) {
    atomic_signal_fence(memory_order_seq_cst);
    t->telling--;
}

#ifdef AF_IN_PLUGIN
// The plugin's own accesses are never recorded, and it has no record of a calling thread.
#define AF_UNHEARD(statement) \
    do {                      \
        statement;            \
    } while (0)
static inline void af_shut_mine(void) {}
static inline void af_open_mine(void) {}
#else
// The record of the calling thread while its accesses count. NULL in runtime code whose accesses
// are not the program's (`af_quiet`), before the thread is attached and after its end.
extern AF_HIDDEN __thread af_thread* af_self __attribute__((tls_model("initial-exec")));
// The record of the calling thread, quiet or not.
extern AF_HIDDEN __thread af_thread* af_mine __attribute__((tls_model("initial-exec")));

// As af_shut and af_open, for the calling thread where it has a record.
static inline void af_shut_mine(void) {
    if (af_mine != NULL) af_shut(af_mine);
}
static inline void af_open_mine(void) {
    if (af_mine != NULL) af_open(af_mine);
}

// Between these two calls accesses do not count: code of run-time libraries.
static inline af_thread* af_quiet(void) {
    af_thread* saved = af_self;
    af_self = NULL;
    return saved;
}
static inline void af_loud(af_thread* saved) { af_self = saved; }

// Calls a library from an interposed function. Compiled programs record only instrumented code, and
// no library is instrumented; of unmodified programs every access is seen.
#ifdef AF_UNDER_PLUGIN
#define AF_QUIETLY(call)                                                 \
    ({                                                                   \
        af_thread* const heard = af_quiet();                             \
        const __typeof__(call) af_result __attribute__((unused)) = call; \
        af_loud(heard);                                                  \
        af_result;                                                       \
    })
#else
#define AF_QUIETLY(call) (call)
#endif

// Runs a statement whose accesses are not the program's, in any library: in the memory of the
// runtime, or inside of libgomp.
#define AF_UNHEARD(statement)                    \
    do {                                         \
        af_thread* const af_heard_ = af_quiet(); \
        statement;                               \
        af_loud(af_heard_);                      \
    } while (0)
#endif
