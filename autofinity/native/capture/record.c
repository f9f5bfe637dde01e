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

void af_drain(af_thread* t) {
    if (t->busy) {  // in a signal handler that interrupted this very function
        t->n = t->n >= AF_SLOTS ? AF_SLOTS - 1 : t->n;
        return;
    }
    t->busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    if (af_recording()) {
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
                af_encode(t->encoder, &filler);
                if (af_encoder_full(t->encoder)) af_seal_chunk(t);
                gap -= UINT32_MAX;
            }
            const uint64_t value =
                kind == AF_ACCESS ? af_written_line(&af_shared->areas, s->value) : s->value;
            const af_event event = {.value = value,
                                    .gap = (uint32_t)gap,
                                    .span = s->span,
                                    .aux = s->aux,
                                    .reads = s->reads,
                                    .writes = s->writes,
                                    .kind = kind,
                                    .flags = s->flags};
            af_encode(t->encoder, &event);
        }
        if (af_encoder_full(t->encoder)) af_seal_chunk(t);
    }
    for (int i = 0; i < AF_OPEN; i++) t->open[i].line = UINT64_MAX;
    t->base += t->n;
    t->n = 0;
    t->floor = t->slots;
    t->pointer_slot = UINT32_MAX;
    atomic_signal_fence(memory_order_seq_cst);
    t->busy = false;
}

void af_access_apart(af_thread* t, uintptr_t address, unsigned size, bool write) {
    af_access_counted(t, address, size, write);
}

void af_look_around(af_thread* t) {
    t->accesses += (uint64_t)(AF_PERIOD - t->budget);
    t->budget = AF_PERIOD;
    if (t->busy) return;
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
