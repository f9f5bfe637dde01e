// The recorder: one buffer of events per thread, and the fast path that every access takes.
//
//   access ─► open line? ─ yes ─► one more of the run                   (a few nanoseconds)
//                 └─ no ─► new slot ─► buffer full? ─► encode ─► chunk to the stream's file
//   sync   ─► closes every open line, then an event of its own
//
// Slots are reserved in the order of first accesses, so a stream is in program order; later
// accesses to the same line within AF_SPAN instructions join the run. Nothing is ever filtered out.
#ifndef AUTOFINITY_CAPTURE_RECORD_H
#define AUTOFINITY_CAPTURE_RECORD_H

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
    AF_PERIOD = 4096,  // accesses between two looks around (fairness, end of the program)
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
    AF_SKIP = 254,  // never written
    AF_PENDING =
        255,  // an await if its value is not 0; decided at unlock or when the buffer is full
};
enum { AF_FLAG_ATOMIC = 1, AF_FLAG_FIRST_WRITE = 2, AF_FLAG_DEPENDENT = 4 };

typedef struct af_slot {
    uint64_t value;
    uint64_t start;  // the thread's instruction count
    uint16_t reads;
    uint16_t writes;
    uint16_t span;
    uint16_t aux;
    uint8_t kind;
    uint8_t flags;
    uint32_t sequence;  // low half of its number: tells a slot from what was there before
} af_slot;

typedef struct af_open_line {
    uint64_t line;
    uint32_t slot;
} af_open_line;

typedef struct af_poll {
    uintptr_t address;
    uint64_t value;
} af_poll;

// A loop whose chunks are handed out (openmp_loops.c).
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

typedef struct af_thread {
    // Touched by every access.
    uint64_t now;      // instructions so far
    uint32_t cost;     // instructions charged per access when no block table tells them
    int32_t budget;    // accesses until the next look around
    uint32_t n;        // slots in use
    uint32_t floor;    // slots below are closed
    uint64_t pointer;  // what the last 8-byte load returned: a base address, perhaps
    uint32_t pointer_slot;
    bool busy;  // encoding: a signal handler's accesses are dropped meanwhile

    uint64_t base;      // slots encoded so far: base + index numbers a slot for good
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

// What every file that touches slots needs of the whole recording. It lies in the memory of the
// captured program; QEMU's plugin, which records the accesses of unmodified binaries into the same
// thread records, is handed its address (native/qemu_plugin).
typedef struct af_common {
    _Atomic int recording;  // 0: off (no folder asked for, failed, or finished)
    _Atomic int finishing;
    _Atomic int failed;
    _Atomic uint64_t spins;
    _Atomic uint64_t token;  // the last one given out
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
AF_HIDDEN af_thread* af_thread_new(uint32_t parent);
AF_HIDDEN void af_thread_enter(af_thread* t);  // calling thread is `t` from now on
AF_HIDDEN void af_thread_leave(af_thread* t);  // last event, everything written
AF_HIDDEN af_thread* af_find_by_handle(pthread_t handle);
AF_HIDDEN void* af_next(const char* symbol);  // the real function behind an interposed one

// record.c
AF_HIDDEN void af_drain(af_thread* t);  // encodes all slots
AF_HIDDEN void af_look_around(af_thread* t);
AF_HIDDEN void af_seal_chunk(af_thread* t);
AF_HIDDEN void af_append(const char* path, const void* data, size_t size);
AF_HIDDEN void af_stream_path(const af_thread* t, char* path, size_t size);
AF_HIDDEN void af_fail(const char* what, const char* path, int error);
AF_HIDDEN uint64_t af_accesses_of(const af_thread* t);
AF_HIDDEN void af_count_spins(uint64_t polls);

// arena.c
AF_HIDDEN uint64_t af_ids(uint64_t count);  // `count` unique numbers for objects and instances
AF_HIDDEN void* af_map(size_t bytes);       // zeroed pages, or NULL
AF_HIDDEN void* af_alloc(size_t bytes);     // zeroed, never given back

// process.c, roi.c
AF_HIDDEN void af_finish(void);
AF_HIDDEN void af_parallel_begins(void);
AF_HIDDEN void af_parallel_ends(void);

// polling.c: the same values seen over and over, with nothing else in between, are a wait. From the
// fourth time on nothing is recorded, the time slice is given up, and no instructions are charged.
AF_HIDDEN void af_stop_polling(af_thread* t);  // if it does something else by now
AF_HIDDEN void af_end_polling(af_thread* t);
// A load (or a failed attempt) saw `value`. Returns true when it is one more poll that is not to be
// recorded; `*woke` when the value has changed after polling.
AF_HIDDEN bool af_polling(af_thread* t, uintptr_t address, uint64_t value, bool* woke);
AF_HIDDEN void af_rest(const af_thread* t);
// The window takes in what was just recorded for `address`.
AF_HIDDEN void af_polled(af_thread* t, uintptr_t address, uint64_t value);
// An attempt on a lock that is held: polled in a loop, it counts as waiting.
AF_HIDDEN void af_attempt_failed(af_thread* t, const volatile void* word);

// fair.c
AF_HIDDEN void af_fair_enter(af_thread* t);
AF_HIDDEN void af_fair_leave(af_thread* t);
AF_HIDDEN void af_fair_check(af_thread* t);
AF_HIDDEN void af_block(af_thread* t);  // about to wait for another thread
AF_HIDDEN void af_unblock(af_thread* t);
AF_HIDDEN void af_block_at(af_thread* t, _Atomic uint64_t* gate, uint64_t need);
AF_HIDDEN void af_sleep(unsigned microseconds);

static inline uint32_t af_new_slot(af_thread* t, uint64_t value, uint8_t kind) {
    if (AF_UNLIKELY(t->unsettled != NULL)) t->settle(t);
    if (AF_UNLIKELY(t->n >= AF_SLOTS)) af_drain(t);
    const uint32_t index = t->n++;
    af_slot* s = &t->slots[index];
    s->value = value;
    s->start = t->now;
    s->reads = s->writes = s->span = s->aux = 0;
    s->kind = kind;
    s->flags = 0;
    s->sequence = (uint32_t)(t->base + index);
    return index;
}

// An event that is not an access. Returns its number for good (see af_slot_at).
static inline uint64_t af_event_add(af_thread* t, uint8_t kind, uint64_t value, unsigned aux) {
    const uint32_t index = af_new_slot(t, value, kind);
    t->slots[index].aux = (uint16_t)aux;
    t->floor = t->n;
    return t->base + index;
}

static inline af_slot* af_slot_at(af_thread* t, uint64_t number) {
    return number >= t->base && number < t->base + t->n ? &t->slots[number - t->base] : NULL;
}

static inline void af_spend(af_thread* t) {
    if (AF_UNLIKELY(--t->budget <= 0)) af_look_around(t);
}

// An access that stands alone: atomics and lock words.
static inline void af_alone(af_thread* t, const volatile void* address, unsigned reads,
                            unsigned writes) {
    t->now += t->cost;
    const uint32_t index = af_new_slot(t, (uint64_t)(uintptr_t)address >> 6, AF_ACCESS);
    af_slot* s = &t->slots[index];
    s->reads = (uint16_t)reads;
    s->writes = (uint16_t)writes;
    s->flags = AF_FLAG_ATOMIC;
    t->floor = t->n;
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

static inline void af_line(af_thread* t, uint64_t line, unsigned reads, unsigned writes) {
    af_open_line* o = &t->open[(line ^ line >> 7) & (AF_OPEN - 1)];
    if (AF_LIKELY(o->line == line && o->slot >= t->floor)) {
        af_slot* s = &t->slots[o->slot];
        const uint64_t span = t->now - s->start;
        if (AF_LIKELY(span <= AF_SPAN && ((s->reads | s->writes) & 0x8000) == 0)) {
            s->span = (uint16_t)span;
            s->reads = (uint16_t)(s->reads + reads);
            s->writes = (uint16_t)(s->writes + writes);
            return;
        }
    }
    const uint32_t index = af_new_slot(t, line, AF_ACCESS);
    af_slot* s = &t->slots[index];
    s->reads = (uint16_t)reads;
    s->writes = (uint16_t)writes;
    s->flags = reads == 0 ? AF_FLAG_FIRST_WRITE : 0;
    o->line = line;
    o->slot = index;
}

static inline void af_access(af_thread* t, uintptr_t address, unsigned size, bool write) {
    t->now += t->cost;
    const uint64_t line = address >> 6;
    const uint32_t before = t->n;
    af_line(t, line, !write, write);
    // Pointer chase: the line just opened lies where the load before it points.
    if (t->n != before && before == t->pointer_slot && address - t->pointer < 512 && before > 0)
        t->slots[before - 1].flags |= AF_FLAG_DEPENDENT;
    if (AF_UNLIKELY((address & 63) + size > 64)) af_line(t, line + 1, !write, write);
    af_spend(t);
}

// What a load of pointer size returns, for the rule above.
static inline void af_loaded(af_thread* t, uint64_t value) {
    t->pointer = value;
    t->pointer_slot = t->n;
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

// The record to note synchronisation in, or NULL when the call is not the program's own.
static inline af_thread* af_here(void) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL)) t = af_attach();
    return t != NULL && !t->busy ? t : NULL;
}

#endif
