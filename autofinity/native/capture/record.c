// The way from slots to files, and the look around that every thread takes now and then.
#include "record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void af_count_spins(uint64_t polls) {
    atomic_fetch_add_explicit(&af_shared->spins, polls, memory_order_relaxed);
}

// Recording cannot go on. The program does; without an index nobody takes the trace for whole.
void af_fail(const char* what, const char* path, int error) {
    atomic_store(&af_shared->recording, 0);
    if (atomic_exchange(&af_shared->failed, 1)) return;
    char text[4400];
    const int n = snprintf(text, sizeof text, "autofinity capture: %s %s: %s\n", what, path,
                           strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error");
    if (n > 0) syscall(SYS_write, 2, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

// System calls by number: no cancellation point, nothing interposed, no descriptor kept open (a
// program may close all of them, or fork).
void af_append(const char* path, const void* data, size_t size) {
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

void af_stream_path(const af_thread* t, char* path, size_t size) {
    snprintf(path, size, "%s/stream-%04u.aft", af_shared->directory, t->number);
}

void af_seal_chunk(af_thread* t) {
    uint8_t* const payload = t->out + sizeof(af_chunk_header);
    af_chunk_header header = {AF_CHUNK_MAGIC, t->record.chunks, t->encoder->events, 0, 0};
    if (header.events == 0) return;
    const uint8_t* const end = af_pack(t->encoder, payload);
    header.bytes = (uint32_t)(end - payload);
    header.crc = af_chunk_crc(&af_shared->crc, &header, payload);
    __builtin_memcpy(t->out, &header, sizeof header);
    char path[4200];
    af_stream_path(t, path, sizeof path);
    af_append(path, t->out, (size_t)(end - t->out));
    t->record.chunks++;
    t->record.events += header.events;
    t->record.bytes += (uint64_t)(end - t->out);
    t->record.crc = af_crc(&af_shared->crc, t->record.crc, &header.crc, sizeof header.crc);
    af_encoder_reset(t->encoder);
}

// What is no access, or does not come within the instructions that one event can tell.
static __attribute__((noinline)) void encode_apart(af_thread* t, const af_slot* s) {
    uint8_t kind = s->kind;
    if (kind == AF_SKIP || (kind == AF_PENDING && s->value == 0)) return;
    if (kind == AF_PENDING) kind = AF_AWAIT;
    const uint64_t less = kind == AF_ACCESS ? af_area_of(&af_shared->areas, s->value).less : 0;
    uint64_t gap = s->start > t->encoded_until ? s->start - t->encoded_until : 0;
    t->encoded_until += gap;
    for (; gap > UINT32_MAX; gap -= UINT32_MAX) {
        af_encode(t->encoder, &(af_event){.gap = UINT32_MAX, .kind = AF_COMPUTE});
        if (af_encoder_full(t->encoder)) af_seal_chunk(t);
    }
    af_encode(t->encoder, &(af_event){.value = s->value - less,
                                      .gap = (uint32_t)gap,
                                      .span = kind == AF_ACCESS ? s->span : 0,
                                      .aux = kind == AF_ACCESS ? 0 : s->aux,
                                      .reads = s->reads,
                                      .writes = s->writes,
                                      .kind = kind,
                                      .flags = s->flags});
}

// Nothing is left in the slots: a signal handler may drain them while one is being filled, and the
// program then goes on behind it.
static void encode_slots(af_thread* t) {
    af_encoder* const e = t->encoder;
    af_history last = e->model.last;
    af_area area = {0};
    uint64_t until = t->encoded_until;
    uint32_t accesses = 0;
    const af_slot* const end = t->next;
    for (af_slot* s = t->slots; s != end; s++) {
        const uint64_t gap = s->start - until, shape = s->shape;
        if (AF_LIKELY(gap <= UINT32_MAX && shape >> AF_KIND_SHIFT == AF_ACCESS)) {
            const uint64_t line = s->value;
            if (AF_UNLIKELY(line - area.from >= area.lines))
                area = af_area_of(&af_shared->areas, line);
            // Span and flags are where the model has them, and the kind above them is 0.
            af_encode_access(e, &last, line - area.less, gap | (shape & ~(uint64_t)UINT32_MAX),
                             (uint32_t)shape);
            until = s->start;
            s->kind = AF_SKIP;
            accesses++;
            continue;
        }
        e->model.last = last;
        e->events += accesses;
        accesses = 0;
        t->encoded_until = until;
        encode_apart(t, s);
        until = t->encoded_until;
        last = e->model.last;
        s->kind = AF_SKIP;
    }
    e->model.last = last;
    e->events += accesses;
    t->encoded_until = until;
    if (af_encoder_full(e)) af_seal_chunk(t);
}

void af_make_room_apart(af_thread* t) {
    if (t->unsettled != NULL) t->settle(t);
    if (t->next >= t->slots + AF_SLOTS) af_drain(t);
}

void af_drain(af_thread* t) {
    if (t->busy) {  // in a signal handler that interrupted this very function
        if (t->next >= t->slots + AF_SLOTS) t->next = t->slots + AF_SLOTS - 1;
        return;
    }
    t->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (af_recording()) encode_slots(t);
    for (int i = 0; i < AF_OPEN; i++) t->open[i].base = AF_NO_LINE;
    t->base += (uint64_t)(t->next - t->slots);
    t->next = t->slots;
    af_close_lines(t);
    t->pointer = 0;
    atomic_signal_fence(memory_order_seq_cst);
    t->busy = false;
}

void af_accesses_apart(af_thread* t, uintptr_t address, unsigned size, unsigned reads,
                       unsigned writes) {
    t->now += (uint64_t)t->cost * (reads + writes);
    af_open_line* const o = af_open_at(t, address);
    af_slot* const run = af_lies_in(o, address, 1) ? o->slot : NULL;
    if (run != NULL && af_is_open(t->closed, run, af_span_of(run, t->now))) {
        af_join(run, af_span_of(run, t->now), reads, writes);
    } else {
        af_make_room(t);
        const uint64_t pointer = t->pointer;
        af_note_chase(t, af_open_run(t, o, t->now, address, reads, writes), address, pointer);
    }
    if (AF_UNLIKELY((address & 63) + size > 64)) af_line(t, address + size - 1, reads, writes);
    t->budget -= (int32_t)(reads + writes) - 1;
    af_spend(t);
}

// Counts of a run have 16 bits, and until the next look around there may be AF_PERIOD more.
static void close_long_runs(af_thread* t) {
    for (int i = 0; i < AF_OPEN; i++) {
        af_open_line* const o = &t->open[i];
        if (o->base != AF_NO_LINE && o->slot->reads + o->slot->writes >= AF_LONG_RUN)
            o->base = AF_NO_LINE;
    }
}

void af_look_around(af_thread* t) {
    t->accesses += (uint64_t)(AF_PERIOD - t->budget);
    t->budget = AF_PERIOD;
    if (t->busy) return;
    close_long_runs(t);
    if (AF_UNLIKELY(atomic_load(&af_shared->finishing))) {
        // The program ends in another thread; what follows here would never have an end.
        atomic_store(&t->state, 2);
        *t->self = NULL;
        return;
    }
    if (t->polls > 0) af_stop_polling(t);  // the loop was left for another reason than its value
    af_fair_check(t);
}

uint64_t af_accesses_of(const af_thread* t) {
    return t->accesses + (uint64_t)(AF_PERIOD - t->budget);
}
