// What the runtime remembers of each thread of the program: everything that is touched by accesses
// and by what orders them lies here, so that nobody has to look it up elsewhere.
//
// The folders of the runtime are its layers. A file includes, calls and uses what lies in its own
// folder or in one further down, never further up:
//
//   interpose/  what the program calls in place of the real thing: accesses and atomics of compiled
//               code, mem*, read, pthread_*, sem_*; in interpose/openmp/ libgomp's functions
//   process/    the beginning and the end of a recording
//   threads/    records: who is one, since when; regions of interest; who counts instructions
//   order/      who must come after whom in a replay: locks, awaits, writes to atomics
//   record/     the buffer of a thread: accesses and events to slots, slots to files; windows of a
//               sampled capture
//   warm/       between windows: which lines each thread touched last, and who a page first
//   pace/       how far a thread has got: fairness, and loops that only wait
//   state/      the data of all that, failures, memory
//
// (Only this cannot be helped: what libraries that we use call, such as memcpy, is interposed,
// too.)
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
    AF_OPEN = 128,                  // lines that can be open at a time
    AF_PERIOD = 4096,  // accesses between two looks around (fairness, end of the program)
    AF_OUT_BYTES = sizeof(af_chunk_header) + AF_PAYLOAD_BYTES,
    AF_WINDOW = 4,  // atomics a polling loop may alternate between
    AF_AWAITED = 64,
    AF_HELD = 16,
    AF_RELAXED = 4,
    AF_STANDING = 64,
    AF_BESIDE_FENCE = 4,  // accesses after a fence that may be of a flag
};

typedef struct af_poll {
    uintptr_t address;
    uint64_t value;
} af_poll;

// A loop whose chunks are handed out (interpose/openmp/units.c).
typedef struct af_loop {
    bool active;  // its chunks are units
    bool up, is_unsigned;
    int kind;
    uint32_t team_size;
    uint32_t dimensions;  // of a doacross loop, or 0
    uint64_t start, end, step, chunk;
    uint64_t total;  // iterations
    uint64_t instance;
    uint64_t guided_position, guided_ordinal;
} af_loop;

// A lock that a thread holds or a unit of work that it is in: the event that said so.
typedef struct af_standing {
    uint64_t value;
    uint16_t aux;
    uint8_t kind;  // AF_LOCK or AF_UNIT_BEGIN
} af_standing;

// What a thread did in a window.
typedef struct af_window_note {
    uint32_t window;
    af_window_stream stream;
} af_window_note;

// Events on their way to a file of chunks.
typedef struct af_track {
    af_encoder* encoder;     // NULL: none is kept
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
    uint32_t pendings;  // how many there are
    uint32_t depth;     // a reader may take it again
    uint32_t mutexes;   // that the thread held then
    uint64_t posts;     // that it had made
    bool ordered;       // it must come after those before it
} af_section;

// Where a thread is on its way. One of two writes its last events: itself, or af_finish for one
// that is stopped; who changes this first is the one.
typedef enum af_life {
    AF_LIFE_CREATED,
    AF_LIFE_RUNS,
    AF_LIFE_STOPPED,  // as the program ends
    AF_LIFE_SETTLED,  // all is written, or being written by af_finish
    AF_LIFE_CHANGES,  // at its own beginning or end
} af_life;

typedef struct af_thread {
    // Touched by every access.
    uint64_t now;      // instructions so far
    uint32_t cost;     // instructions charged per access when nothing tells them
    int32_t budget;    // accesses until the next look around
    af_slot* floor;    // slots below are closed (af_access_quick)
    uint64_t pointer;  // what the last load of 8 bytes returned, unless a slot came since: a base
                       // address, perhaps
    af_slot* next;     // the first free slot
    af_slot* limit;    // slots from here on are not to be filled before af_make_room_apart
    af_slot* closed;   // slots below are closed
    bool busy;         // encoding: a signal handler's accesses are dropped meanwhile

    uint64_t base;      // slots encoded so far: base + index numbers a slot for good
    uint64_t posts;     // of all kinds: unlocks, signals, …
    uint64_t accesses;  // up to the last look around
    uint32_t number;    // of the stream
    uint32_t parent;
    uint64_t roi_accesses, roi_instructions;  // sums over finished regions
    uint64_t roi_from_accesses, roi_from_instructions;

    // Polling (pace/polling.c).
    af_poll window[AF_WINDOW];
    uint32_t window_n;
    bool fences;           // has made a release fence: its relaxed stores may be what it released
    uint8_t beside_fence;  // accesses to come that may be of a flag
    uint32_t polls;        // in a row, without progress
    uint64_t window_seq;   // position after which nothing but the polls was recorded
    uint64_t window_now;
    // What is known of a volatile that it polled: its write may have come after our look.
    _Atomic uint64_t* unsettled;
    void (*settle)(struct af_thread*);
    uint64_t awaited[AF_AWAITED];  // tokens awaited lately: once is enough
    uint64_t
        relaxed[AF_RELAXED];  // where it has loaded relaxed lately (interpose/atomics.c), in a ring
    uint32_t relaxed_n;

    // Mutexes it holds, outermost first (order/exclusion.c).
    af_held held[AF_HELD];
    uint32_t held_n;
    af_section sections[AF_HELD];  // outermost first
    uint32_t sections_n;

    // Fairness (pace/fair.c).
    _Atomic uint64_t progress;
    _Atomic int blocked;  // nesting: waiting for another thread, in a call we know
    _Atomic int stalled;  // waiting somewhere unknown: others no longer wait for it
    uint64_t least_then;  // progress of the slowest other as it began to wait
    // It waits for `*gate` to reach `gate_need`: from then on it counts, though it may still sleep.
    _Atomic(_Atomic uint64_t*) gate;
    uint64_t gate_need;
    // Or for tasks to run: it counts while there are any.
    _Atomic(_Atomic int64_t*) work;
    int seat;

    // Life (threads/streams.c, interpose/threads.c).
    struct af_thread** self;  // where the thread's `af_self` is
    _Atomic int tid;          // the kernel's; 0 until it runs
    _Atomic pthread_t handle;
    _Atomic int life;  // one of af_life
    _Atomic bool joined;
    int destructor_rounds;
    uint64_t begin_token, end_token;
    void* (*start)(void*);
    void* argument;

    // OpenMP (interpose/openmp/).
    struct af_team* team;
    struct af_team* spare_teams;
    uint64_t share;  // worksharing constructs met in this team
    uint64_t unit;   // open unit + 1, or 0
    uint64_t unit_value;
    af_loop loop;
    struct af_task* task;  // the one it runs
    bool parked;           // in libgomp's pool, between two regions

    af_open_line open[AF_OPEN];
    af_slot* slots;

    // Files.
    af_track stream;
    uint8_t* out;  // a sealed chunk on its way to a file

    // Sampled capture (record/windows.c).
    struct af_recency* recency;  // NULL: all is recorded
    af_slot* warmed;             // accesses in slots below are in there
    uint32_t stamp;              // of the coarse clock, at its last look around
    af_interval did;             // since it was last booked (warm/history.c)
    uint64_t did_until;          // instructions then
    uint64_t counted;            // accesses that are in the work of all threads, or before it
    uint64_t epoch;              // that it has passed to
    bool woke;                   // from a wait during which the epoch changed
    af_standing standing[AF_STANDING];  // outermost first
    uint32_t standing_n;
    af_window_note* windows;
    uint32_t windows_n, windows_room;
    uint64_t warm_bytes;     // of its file of snapshots
    uint64_t warm_accesses;  // when it made the last of them
    // Of the whole run, what is no access (record/skeleton.c).
    af_track skeleton;
    af_slot* sketched;  // slots below are in there
    uint64_t got_to;    // work of all threads in the region, at its last look around
    uint64_t marked;    // the work that the skeleton was marked with last
} af_thread;

// The record of the calling thread while its accesses count; NULL in runtime code that is not the
// program's (`af_quiet`), before it is attached and after its end.
extern AF_HIDDEN __thread af_thread* af_self __attribute__((tls_model("initial-exec")));
// The record of the calling thread, quiet or not.
extern AF_HIDDEN __thread af_thread* af_mine __attribute__((tls_model("initial-exec")));

// Accesses so far.
static inline uint64_t af_accesses_of(const af_thread* t) {
    return t->accesses + (uint64_t)(AF_PERIOD - t->budget);
}

// The program's accesses do not count between these two: the code of run-time libraries.
static inline af_thread* af_quiet(void) {
    af_thread* saved = af_self;
    af_self = NULL;
    return saved;
}
static inline void af_loud(af_thread* saved) { af_self = saved; }

// A call into a library from an interposed function. Compiled programs record what they were
// instrumented for, which no library is; of unmodified ones every access is seen.
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

// A statement that is none of the program's, in any library: in the memory of the runtime, or
// inside of libgomp.
#define AF_UNHEARD(statement)                    \
    do {                                         \
        af_thread* const af_heard_ = af_quiet(); \
        statement;                               \
        af_loud(af_heard_);                      \
    } while (0)
