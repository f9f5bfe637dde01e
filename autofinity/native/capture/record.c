// Thread records, the way from slots to files, and the beginning and end of the recording.
//
// The environment says what to do (autofinity/capture/run.py sets it):
//   AUTOFINITY_CAPTURE_DIR     folder for the trace; without it the program just runs
//   AUTOFINITY_CAPTURE_ROI     marks (default), parallel or whole
//   AUTOFINITY_CAPTURE_AHEAD   accesses a thread may be ahead of another; 0: as the host runs them
//   AUTOFINITY_CAPTURE_BLOCKS  instructions by block (autofinity/capture/blocks.py)
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__thread af_thread* af_self;
__thread af_thread* af_mine;
_Atomic int af_recording;
uint64_t af_ahead = 50000;

enum { INSTRUCTIONS_PER_ACCESS = 3 };  // the documented estimate where no block table is given

static struct {
    _Atomic int initialised;
    _Atomic int finishing;
    char directory[4096];
    af_crc_table crc;
    _Atomic uint32_t streams;
    af_thread** threads;  // by number; room for AF_MAX_STREAMS, backed page by page
    _Atomic uint64_t token;
    _Atomic uint64_t id;
    _Atomic uint64_t spins;
    struct timespec begin;
    bool roi_parallel, roi_marks;
    _Atomic int roi_open;
    _Atomic uint64_t roi_begins, roi_ends;
    _Atomic int failed;
    // Instructions by block: counts[return address of __sanitizer_cov_trace_pc - low].
    uintptr_t low;
    uint64_t blocks;
    const uint16_t* counts;
    atomic_flag arena_lock;
    char* arena;
    size_t arena_left;
} af;

// ---------------------------------------------------------------------------------- small things

uint64_t af_token(void) {
    return atomic_fetch_add_explicit(&af.token, 1, memory_order_relaxed) + 1;
}

uint64_t af_ids(uint64_t count) {
    return atomic_fetch_add_explicit(&af.id, count, memory_order_relaxed) + 1;
}

void af_count_spins(uint64_t polls) {
    atomic_fetch_add_explicit(&af.spins, polls, memory_order_relaxed);
}

void* af_next(const char* symbol) { return dlsym(RTLD_NEXT, symbol); }

static void* map(size_t bytes) {
    void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void* af_alloc(size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    while (atomic_flag_test_and_set_explicit(&af.arena_lock, memory_order_acquire)) sched_yield();
    if (bytes > af.arena_left) {
        af.arena_left = bytes > (1u << 20) ? bytes : 1u << 20;
        af.arena = map(af.arena_left);
    }
    char* p = af.arena;
    if (p != NULL) {
        af.arena += bytes;
        af.arena_left -= bytes;
    } else {
        af.arena_left = 0;
    }
    atomic_flag_clear_explicit(&af.arena_lock, memory_order_release);
    if (p == NULL) {
        af_fail("out of memory while recording", "", ENOMEM);
        syscall(SYS_exit_group, 97);
    }
    return p;
}

// Recording cannot go on. The program does; without an index nobody takes the trace for whole.
void af_fail(const char* what, const char* path, int error) {
    atomic_store(&af_recording, 0);
    if (atomic_exchange(&af.failed, 1)) return;
    char text[4400];
    const int n = snprintf(text, sizeof text, "autofinity capture: %s %s: %s\n", what, path,
                           strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
    if (n > 0) syscall(SYS_write, 2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

// --------------------------------------------------------------------------------- slots to file

// System calls by number: no cancellation point, nothing interposed, no descriptor kept open (a
// program may close all of them, or fork).
static void append(const char* path, const void* data, size_t size) {
    const long fd =
        syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) {
        af_fail("cannot open", path, errno);
        return;
    }
    const char* p = data;
    while (size > 0) {
        const long done = syscall(SYS_write, fd, p, size);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            af_fail("cannot write", path, done == 0 ? ENOSPC : errno);
            break;
        }
        p += done;
        size -= (size_t)done;
    }
    syscall(SYS_close, fd);
}

static void stream_path(const af_thread* t, char* path, size_t size) {
    snprintf(path, size, "%s/stream-%04u.aft", af.directory, t->number);
}

static void seal_chunk(af_thread* t) {
    uint8_t* const payload = t->out + sizeof(af_chunk_header);
    uint8_t* const end = af_flush(t->encoder, t->out + t->out_bytes);
    af_chunk_header header = {AF_CHUNK_MAGIC, t->record.chunks, t->encoder->events,
                              (uint32_t)(end - payload), 0};
    if (header.events > 0) {
        header.crc = af_chunk_crc(&af.crc, &header, payload);
        __builtin_memcpy(t->out, &header, sizeof header);
        char path[4200];
        stream_path(t, path, sizeof path);
        append(path, t->out, (size_t)(end - t->out));
        t->record.chunks++;
        t->record.events += header.events;
        t->record.bytes += (uint64_t)(end - t->out);
        t->record.crc = af_crc(&af.crc, t->record.crc, &header.crc, sizeof header.crc);
    }
    af_encoder_reset(t->encoder);
    t->out_bytes = sizeof(af_chunk_header);
}

void af_drain(af_thread* t) {
    if (t->busy) {  // in a signal handler that interrupted this very function
        t->n = t->n >= AF_SLOTS ? AF_SLOTS - 1 : t->n;
        return;
    }
    t->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&af_recording, memory_order_relaxed)) {
        uint8_t* out = t->out + t->out_bytes;
        for (uint32_t i = 0; i < t->n; i++) {
            const af_slot* s = &t->slots[i];
            uint8_t kind = s->kind;
            // A signal handler drained the buffer between the two halves of `n++`: nothing is here.
            if (s->sequence != (uint32_t)(t->base + i)) continue;
            if (kind == AF_SKIP || (kind == AF_PENDING && s->value == 0)) continue;
            if (kind == AF_PENDING) kind = AF_AWAIT;
            uint64_t gap = s->start > t->encoded_until ? s->start - t->encoded_until : 0;
            t->encoded_until += gap;
            while (gap > UINT32_MAX) {
                const af_event filler = {.gap = UINT32_MAX, .kind = AF_COMPUTE};
                out = af_encode(t->encoder, out, &filler);
                gap -= UINT32_MAX;
            }
            const af_event event = {.value = s->value,
                                    .gap = (uint32_t)gap,
                                    .span = s->span,
                                    .aux = s->aux,
                                    .reads = s->reads,
                                    .writes = s->writes,
                                    .kind = kind,
                                    .flags = s->flags};
            out = af_encode(t->encoder, out, &event);
        }
        t->out_bytes = (size_t)(out - t->out);
        if (t->out_bytes >= AF_CHUNK_BYTES || t->encoder->events > AF_CHUNK_MAX_EVENTS / 2)
            seal_chunk(t);
    }
    for (int i = 0; i < AF_OPEN; i++) t->open[i].line = UINT64_MAX;
    t->base += t->n;
    t->n = 0;
    t->floor = 0;
    t->pointer_slot = UINT32_MAX;
    atomic_signal_fence(memory_order_seq_cst);
    t->busy = false;
}

void af_look_around(af_thread* t) {
    t->accesses += (uint64_t)(AF_PERIOD - t->budget);
    t->budget = AF_PERIOD;
    if (t->busy) return;
    if (AF_UNLIKELY(atomic_load(&af.finishing))) {
        // The program ends in another thread; what follows here would never have an end.
        atomic_store(&t->state, 2);
        if (af_mine == t) af_self = NULL;
        return;
    }
    if (t->polls > 0) af_stop_polling(t);  // the loop was left for another reason than its value
    af_fair_check(t);
}

uint64_t af_accesses_of(const af_thread* t) {
    return t->accesses + (uint64_t)(AF_PERIOD - t->budget);
}

// ---------------------------------------------------------------------------------------- threads

af_thread* af_thread_new(uint32_t parent) {
    const uint32_t number = atomic_fetch_add(&af.streams, 1);
    if (number >= AF_MAX_STREAMS) {
        af_fail("too many threads for one trace", "", E2BIG);
        return NULL;
    }
    const size_t bytes =
        sizeof(af_thread) + AF_SLOTS * sizeof(af_slot) + sizeof(af_encoder) + AF_OUT_BYTES + 64;
    char* memory = map(bytes);
    if (memory == NULL) {
        af_fail("out of memory for a thread's buffer", "", ENOMEM);
        return NULL;
    }
    af_thread* t = (af_thread*)memory;
    t->slots = (af_slot*)(memory + sizeof(af_thread));
    t->encoder = (af_encoder*)((char*)t->slots + AF_SLOTS * sizeof(af_slot));
    t->out = (uint8_t*)t->encoder + sizeof(af_encoder);
    t->out_bytes = sizeof(af_chunk_header);
    t->number = number;
    t->parent = number == 0 ? 0 : parent;
    t->cost = af.counts != NULL ? 0 : INSTRUCTIONS_PER_ACCESS;
    t->budget = AF_PERIOD;
    t->pointer_slot = UINT32_MAX;
    t->seat = -1;
    for (int i = 0; i < AF_OPEN; i++) t->open[i].line = UINT64_MAX;
    af.threads[number] = t;

    af_stream_header header = {AF_STREAM_MAGIC, AF_VERSION, number, t->parent, 0};
    header.crc = af_crc(&af.crc, 0, &header, offsetof(af_stream_header, crc));
    char path[4200];
    stream_path(t, path, sizeof path);
    append(path, &header, sizeof header);
    t->record.parent = t->parent;
    t->record.bytes = sizeof header;
    return t;
}

void af_thread_enter(af_thread* t) {
    af_mine = t;
    t->handle = pthread_self();
    atomic_store(&t->tid, (int)syscall(SYS_gettid));
    int fresh = 0;
    if (atomic_load(&af.finishing) || !atomic_compare_exchange_strong(&t->state, &fresh, 4)) return;
    af_event_add(t, AF_THREAD_BEGIN, t->number, 0);
    if (t->begin_token != 0) af_event_add(t, AF_AWAIT, t->begin_token, 0);
    if (atomic_load(&af.roi_open)) {
        t->roi_from_accesses = 0;
        t->roi_from_instructions = 0;
    }
    atomic_store(&t->state, 1);
    if (t->seat < 0) af_fair_enter(t);
    af_self = t;
}

static void close_roi(af_thread* t) {
    t->roi_accesses += af_accesses_of(t) - t->roi_from_accesses;
    t->roi_instructions += t->now - t->roi_from_instructions;
    t->roi_from_accesses = af_accesses_of(t);
    t->roi_from_instructions = t->now;
}

// Last event and everything to disk. Only the thread itself, or af_finish for one that is stopped.
static void settle(af_thread* t) {
    if (atomic_load(&af.roi_open)) close_roi(t);
    af_event_add(t, AF_THREAD_END, t->number, 0);
    af_drain(t);
    if (atomic_load(&af_recording)) seal_chunk(t);
    t->record.accesses = af_accesses_of(t);
    t->record.instructions = t->now;
    t->record.roi_accesses = t->roi_accesses;
    t->record.roi_instructions = t->roi_instructions;
}

void af_thread_leave(af_thread* t) {
    af_self = NULL;
    // One of two settles a thread: itself here, or af_finish. The state says who took it on.
    int running = 1;
    if (atomic_load(&af.finishing) || !atomic_compare_exchange_strong(&t->state, &running, 4)) {
        running = 1;
        atomic_compare_exchange_strong(&t->state, &running, 2);
        return;
    }
    if (t->end_token == 0) t->end_token = af_token();
    af_event_add(t, AF_POST, t->end_token, 0);
    af_fair_leave(t);
    settle(t);
    atomic_store(&t->state, 3);
    // The record stays (joins look it up), its buffers go back: the pages behind the struct.
    const uintptr_t page = 4096;
    const uintptr_t from = ((uintptr_t)(t + 1) + page - 1) & ~(page - 1);
    const uintptr_t to = (uintptr_t)t + sizeof(af_thread) + AF_SLOTS * sizeof(af_slot) +
                         sizeof(af_encoder) + AF_OUT_BYTES;
    madvise((void*)from, (to - from) & ~(page - 1), MADV_DONTNEED);
}

af_thread* af_attach(void) {
    if (!atomic_load_explicit(&af_recording, memory_order_relaxed)) return NULL;
    if (af_mine != NULL || atomic_load(&af.finishing)) return NULL;  // quiet, ended, or too late
    af_thread* t = af_thread_new(0);
    if (t == NULL) return NULL;
    af_thread_enter(t);
    return t;
}

af_thread* af_find_by_handle(pthread_t handle) {
    // Handles are reused after a join: the newest that is not joined yet is meant.
    for (uint32_t i = atomic_load(&af.streams); i-- > 0;) {
        af_thread* t = af.threads[i];
        if (t != NULL && !t->joined && pthread_equal(t->handle, handle)) return t;
    }
    return NULL;
}

// --------------------------------------------------------------------------- region of interest

static void roi_snapshot(bool begin) {
    for (uint32_t i = 0; i < atomic_load(&af.streams); i++) {
        af_thread* t = af.threads[i];
        if (t == NULL || atomic_load(&t->state) != 1) continue;
        if (begin) {
            t->roi_from_accesses = af_accesses_of(t);
            t->roi_from_instructions = t->now;
        } else {
            close_roi(t);
        }
    }
}

void af_roi(bool begin, bool candidate) {
    af_thread* t = af_mine != NULL ? af_mine : af_here();
    if (t == NULL || !atomic_load(&af_recording)) return;
    int expected = begin ? 0 : 1;
    const bool changes = atomic_compare_exchange_strong(&af.roi_open, &expected, begin);
    if (!changes && !candidate) return;
    if (begin) {
        atomic_fetch_add(&af.roi_begins, 1);
        af_event_add(t, AF_ROI_BEGIN, 0, 0);
    } else {
        af_event_add(t, AF_ROI_END, atomic_fetch_add(&af.roi_ends, 1) + 1, 0);
    }
    if (changes) roi_snapshot(begin);
}

// ROI "parallel": from the first thread or parallel region to the last join or end of one. Which
// end is the last is only known at the end, so each is a candidate (see AF_INDEX_ROI_CANDIDATES);
// the region counts as open in between.
void af_parallel_begins(void) {
    if (!af.roi_parallel) return;
    if (atomic_load(&af.roi_begins) == 0) {
        af_roi(true, false);
    } else if (!atomic_exchange(&af.roi_open, 1)) {
        // What lay between the candidate end and now belongs to the region: do not re-take the
        // marks.
        return;
    }
}

void af_parallel_ends(void) {
    if (!af.roi_parallel || !atomic_load(&af.roi_begins)) return;
    af_roi(false, true);
}

AF_API void autofinity_roi_begin(void) {
    if (af.roi_marks) af_roi(true, false);
}
AF_API void autofinity_roi_end(void) {
    if (af.roi_marks) af_roi(false, false);
}
AF_API void autofinity_heartbeat(void) {
    af_thread* t = af_here();
    if (t != NULL) af_event_add(t, AF_HEARTBEAT, 1, 0);
}
AF_API void __parsec_roi_begin(void) { autofinity_roi_begin(); }
AF_API void __parsec_roi_end(void) { autofinity_roi_end(); }

// ---------------------------------------------------------------------------------- instructions

AF_API void __sanitizer_cov_trace_pc(void) {
    af_thread* t = af_self;
    const uintptr_t at = (uintptr_t)__builtin_return_address(0) - af.low;
    if (AF_LIKELY(t != NULL && at < af.blocks)) t->now += af.counts[at];
}

static int main_base(struct dl_phdr_info* info, size_t size, void* result) {
    (void)size;
    *(uintptr_t*)result = info->dlpi_addr;
    return 1;  // the first is the program itself
}

// The table: u64 magic, u64 lowest address, u64 entries, then one u16 per address from there.
static void load_blocks(const char* path) {
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        af_fail("cannot open the block table", path, errno);
        return;
    }
    const off_t size = lseek((int)fd, 0, SEEK_END);
    const uint64_t* table =
        size < 24 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
    syscall(SYS_close, fd);
    if (table == MAP_FAILED || table[0] != 0x314b434f4c424641ull ||
        table[2] != ((uint64_t)size - 24) / 2) {
        af_fail("damaged block table", path, EINVAL);
        return;
    }
    uintptr_t base = 0;
    dl_iterate_phdr(main_base, &base);
    af.low = base + table[1];
    af.blocks = table[2];
    af.counts = (const uint16_t*)(table + 3);
}

// ------------------------------------------------------------------------------ beginning and end

static void forget_in_child(void) {
    atomic_store(&af_recording, 0);
    af_self = NULL;
}

static void quick(void) { af_finish(); }

static void start_recording(void) {
    if (atomic_exchange(&af.initialised, 1)) return;
    const char* directory = getenv("AUTOFINITY_CAPTURE_DIR");
    if (directory == NULL || *directory == 0 || strlen(directory) + 40 > sizeof af.directory)
        return;
    strcpy(af.directory, directory);
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
    af_crc_init(&af.crc);
    af.threads = map(AF_MAX_STREAMS * sizeof(af_thread*));
    if (af.threads == NULL) {
        af_fail("out of memory at the start", "", ENOMEM);
        return;
    }
    const char* ahead = getenv("AUTOFINITY_CAPTURE_AHEAD");
    if (ahead != NULL) af_ahead = strtoull(ahead, NULL, 10);
    const char* blocks = getenv("AUTOFINITY_CAPTURE_BLOCKS");
    if (blocks != NULL && *blocks != 0) load_blocks(blocks);
    const char* roi = getenv("AUTOFINITY_CAPTURE_ROI");
    af.roi_parallel = roi != NULL && strcmp(roi, "parallel") == 0;
    af.roi_marks = roi == NULL || *roi == 0 || strcmp(roi, "marks") == 0;
    const bool whole = roi != NULL && strcmp(roi, "whole") == 0;
    clock_gettime(CLOCK_MONOTONIC, &af.begin);
    pthread_atfork(NULL, NULL, forget_in_child);
    at_quick_exit(quick);
    if (af.failed) return;
    atomic_store(&af_recording, 1);
    af_thread* t = af_thread_new(0);
    if (t == NULL) return;
    af_thread_enter(t);
    if (whole) af_roi(true, false);
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
                    (af.counts != NULL ? AF_INDEX_COUNTED_INSTRUCTIONS : 0);
    header->wall_ns = nanoseconds(now) - nanoseconds(af.begin);
    header->cpu_ns = nanoseconds(cpu);
    header->roi_begins = atomic_load(&af.roi_begins);
    header->spins = atomic_load(&af.spins);
    af_index_stream* records = (af_index_stream*)(header + 1);
    for (uint32_t i = 0; i < streams; i++) records[i] = af.threads[i]->record;
    const uint32_t crc = af_crc(&af.crc, 0, bytes, body);
    __builtin_memcpy(bytes + body, &crc, 4);
    char path[4200];
    snprintf(path, sizeof path, "%s/index.aft", af.directory);
    append(path, bytes, body + 4);
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
    if (!atomic_load(&af_recording) || atomic_exchange(&af.finishing, 1)) return;
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
    if (atomic_load(&af.roi_open) && me != NULL && !af.roi_parallel) {
        af_event_add(me, AF_ROI_END, atomic_fetch_add(&af.roi_ends, 1) + 1, 0);
    }
    for (uint32_t k = 0; k < atomic_load(&af.streams); k++) {
        af_thread* t = af.threads[k];
        if (t != NULL && take_on(t)) settle(t);
    }
    if (atomic_load(&af_recording)) write_index();
    atomic_store(&af_recording, 0);
}

__attribute__((constructor(101))) static void begin(void) { start_recording(); }

__attribute__((destructor(101))) static void end(void) { af_finish(); }

AF_API void _exit(int status) {
    af_finish();
    syscall(SYS_exit_group, status);
    __builtin_unreachable();
}
AF_API void _Exit(int status) { _exit(status); }
