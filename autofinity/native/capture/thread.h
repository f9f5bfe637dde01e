// What the runtime remembers of each thread of the program, and of the recording as a whole.
#ifndef AUTOFINITY_CAPTURE_THREAD_H
#define AUTOFINITY_CAPTURE_THREAD_H

#ifndef _GNU_SOURCE
#error "compile with -D_GNU_SOURCE"
#endif
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../trace/codec.h"

#define AF_API __attribute__((visibility("default")))
#define AF_HIDDEN __attribute__((visibility("hidden")))
#define AF_LIKELY(x) __builtin_expect(!!(x), 1)
#define AF_UNLIKELY(x) __builtin_expect(!!(x), 0)

enum {
    AF_SLOTS = AF_ROOM_EVENTS - 1,  // events between two encodings
    AF_OPEN = 128,                  // lines that can be open at a time
    AF_SPAN = 512,                  // instructions a run may last
    AF_PERIOD = 4096,       // accesses between two looks around (fairness, end of the program)
    AF_LONG_RUN = 1 << 14,  // accesses; a run that has so many is closed then
    AF_CHASE_BYTES = 512,   // from a base address, what is accessed by it
    AF_OUT_BYTES = sizeof(af_chunk_header) + AF_PAYLOAD_BYTES,
    AF_WINDOW = 4,  // atomics a polling loop may alternate between
    AF_AWAITED = 64,
    AF_HELD = 16,
    AF_RELAXED = 4,
    AF_SEATS = 1024,  // threads at a time that fairness looks at
};

// As trace/event.hpp has them, and two that exist in the buffer only.
enum {
    AF_ACCESS,
    AF_LOCK,
    AF_UNLOCK,
    AF_BARRIER,
    AF_POST,
    AF_AWAIT,
    AF_UNIT_BEGIN,
    AF_UNIT_END,
    AF_ROI_BEGIN,
    AF_ROI_END,
    AF_THREAD_BEGIN,
    AF_THREAD_END,
    AF_COMPUTE,
    AF_HEARTBEAT,
    AF_SKIP = 254,  // nothing is here
    AF_PENDING =
        255,  // an await if its value is not 0; decided at unlock or when the buffer is full
};
enum { AF_KIND_SHIFT = 56 };  // in a slot's shape
enum { AF_SHARED = 1 };       // aux of a lock: a reader's
enum { AF_FLAG_ATOMIC = 1, AF_FLAG_FIRST_WRITE = 2, AF_FLAG_DEPENDENT = 4 };

typedef struct af_slot {
    uint64_t value;
    uint64_t start;  // the thread's instruction count
    union {
        struct {
            uint16_t reads;
            uint16_t writes;
            union {
                uint16_t span;
                uint16_t aux;  // of what is no access
            };
            uint8_t flags;
            uint8_t kind;
        };
        uint64_t shape;  // all five, as the trace's model takes them (model.h)
    };
} af_slot;

typedef struct af_open_line {
    uint64_t base;  // the line's first address, or AF_NO_LINE
    af_slot* slot;
} af_open_line;
#define AF_NO_LINE UINT64_MAX

typedef struct af_poll {
    uintptr_t address;
    uint64_t value;
} af_poll;

// A loop whose chunks are handed out (openmp_units.c).
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

struct af_team;
struct af_task;
struct af_mutex;
struct af_rwlock;

// A read-write lock that a thread holds (rwlocks.c).
typedef struct af_section {
    struct af_rwlock* lock;
    uint64_t pending;   // number of the first slot that may become an await
    uint32_t pendings;  // how many there are
    uint32_t depth;     // a reader may take it again
    uint32_t mutexes;   // that the thread held then
    uint64_t posts;     // that it had made
    bool ordered;       // it must come after those before it
} af_section;

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

    // Polling (polling.c).
    af_poll window[AF_WINDOW];
    uint32_t window_n;
    bool fences;          // has made a release fence: its relaxed stores may be what it released
    uint32_t polls;       // in a row, without progress
    uint64_t window_seq;  // position after which nothing but the polls was recorded
    uint64_t window_now;
    // What is known of a volatile that it polled: its write may have come after our look.
    _Atomic uint64_t* unsettled;
    void (*settle)(struct af_thread*);
    uint64_t awaited[AF_AWAITED];  // tokens awaited lately: once is enough
    uint64_t relaxed[AF_RELAXED];  // where it has loaded relaxed lately (atomics.c), in a ring
    uint32_t relaxed_n;

    // Mutexes it holds, outermost first (objects.c).
    struct af_mutex* held[AF_HELD];
    uint32_t held_n;
    af_section sections[AF_HELD];  // outermost first
    uint32_t sections_n;

    // Fairness (fair.c).
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

    // Life (streams.c, threads.c).
    struct af_thread** self;  // where the thread's `af_self` is
    _Atomic int tid;          // the kernel's; 0 until it runs
    pthread_t handle;
    // 0 created, 1 running, 2 stopped as the program ends, 3 all written (or being written by
    // af_finish), 4 at its own beginning or end
    _Atomic int state;
    bool joined;
    int destructor_rounds;
    uint64_t begin_token, end_token;
    void* (*start)(void*);
    void* argument;

    // OpenMP (openmp.c).
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

    // File.
    af_encoder* encoder;
    uint8_t* out;            // a sealed chunk on its way to the file
    uint64_t encoded_until;  // instruction count of the last encoded event
    af_index_stream record;
} af_thread;

// The record of the calling thread while its accesses count; NULL in runtime code that is not the
// program's (`af_quiet`), before it is attached and after its end.
extern AF_HIDDEN __thread af_thread* af_self __attribute__((tls_model("initial-exec")));
// The record of the calling thread, quiet or not.
extern AF_HIDDEN __thread af_thread* af_mine __attribute__((tls_model("initial-exec")));

// What lies where in the captured program and is written as lying elsewhere (addresses.c): lines
// from `from` on, up to the next area, by that many `less`. All 0: as they are.
enum { AF_AREAS = 5 };
typedef struct af_areas {
    uint64_t from[AF_AREAS];
    uint64_t less[AF_AREAS];
} af_areas;

// The area that a line lies in.
typedef struct af_area {
    uint64_t from, lines, less;
} af_area;

static inline af_area af_area_of(const af_areas* areas, uint64_t line) {
    uint64_t from = 0, until = UINT64_MAX, less = 0;
    for (int i = 0; i < AF_AREAS && until == UINT64_MAX; i++) {
        if (line < areas->from[i]) {
            until = areas->from[i];
        } else {
            from = areas->from[i];
            less = areas->less[i];
        }
    }
    return (af_area){from, until - from, less};
}

// What every file that touches slots needs of the whole recording. It lies in the memory of the
// captured program; QEMU's plugin, which records the accesses of unmodified binaries into the same
// thread records, is handed its address (native/qemu_plugin).
typedef struct af_common {
    _Atomic int recording;  // 0: off (no folder asked for, failed, or finished)
    _Atomic int finishing;
    _Atomic int failed;
    _Atomic uint64_t spins;
    _Atomic uint64_t token;  // the last one given out
    af_areas areas;          // set before anything is recorded
    uint64_t ahead;          // accesses a thread may be ahead of another; 0: no fairness
    char directory[4096];
    af_crc_table crc;
    struct {
        atomic_flag lock;
        _Atomic int top;  // seats in use lie below
        _Atomic(af_thread*) seats[AF_SEATS];
    } fair;
} af_common;
extern AF_HIDDEN af_common* af_shared;

static inline bool af_recording(void) {
    return atomic_load_explicit(&af_shared->recording, memory_order_relaxed) != 0;
}

// A number for a post that no other has.
static inline uint64_t af_token(void) {
    return atomic_fetch_add_explicit(&af_shared->token, 1, memory_order_relaxed) + 1;
}

// streams.c
AF_HIDDEN af_thread* af_attach(void);  // makes the record of a thread not seen before

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

// The record to note synchronisation in, or NULL when the call is not the program's own.
static inline af_thread* af_here(void) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL)) t = af_attach();
    return t != NULL && !t->busy ? t : NULL;
}

#endif
