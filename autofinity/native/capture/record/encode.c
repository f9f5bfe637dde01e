#include "capture/record/encode.h"

#include <errno.h>

#include "capture/record/buffer.h"
#include "capture/record/files.h"
#include "capture/record/skeleton.h"
#include "capture/record/windows.h"
#include "capture/state/common.h"
#include "capture/state/failure.h"

void af_seal_chunk(af_thread* t, af_track* track) {
    uint8_t* const payload = t->out + sizeof(af_chunk_header);
    af_index_stream* const record = &track->record;
    af_chunk_header header = {AF_CHUNK_MAGIC, record->chunks, track->encoder->events, 0, 0};
    if (header.events == 0) return;
    const uint8_t* const end = af_pack(track->encoder, payload);
    header.bytes = (uint32_t)(end - payload);
    header.crc = af_chunk_crc(&af_shared->crc, &header, payload);
    __builtin_memcpy(t->out, &header, sizeof header);
    char* const path = af_spare(track->encoder);
    af_track_path(t, track, path);
    af_append(path, t->out, (size_t)(end - t->out));
    record->chunks++;
    record->events += header.events;
    record->bytes += (uint64_t)(end - t->out);
    record->crc = af_crc(&af_shared->crc, record->crc, &header.crc, sizeof header.crc);
    af_encoder_reset(track->encoder);
    const uint64_t so_far = atomic_fetch_add(&af_shared->events, header.events) + header.events;
    if (af_shared->most_events != 0 && so_far > af_shared->most_events)
        af_fail(AF_TOO_MANY_EVENTS, "", E2BIG);
}

static void encode(af_thread* t, af_track* track, const af_event* event) {
    af_encode(track->encoder, event);
    if (af_encoder_full(track->encoder)) af_seal_chunk(t, track);
}

void af_encode_slot(af_thread* t, af_track* track, const af_slot* s) {
    uint8_t kind = s->kind;
    if (kind == AF_SKIP || (kind == AF_PENDING && s->value == 0)) return;
    if (kind == AF_PENDING) kind = AF_AWAIT;
    const uint64_t less = kind == AF_ACCESS ? af_area_of(&af_shared->areas, s->value).less : 0;
    uint64_t gap = s->start > track->until ? s->start - track->until : 0;
    track->until += gap;
    for (; gap > UINT32_MAX; gap -= UINT32_MAX)
        encode(t, track, &(af_event){.gap = UINT32_MAX, .kind = AF_COMPUTE});
    encode(t, track,
           &(af_event){.value = s->value - less,
                       .gap = (uint32_t)gap,
                       .span = kind == AF_ACCESS ? s->span : 0,
                       .aux = kind == AF_ACCESS ? 0 : s->aux,
                       .reads = s->reads,
                       .writes = s->writes,
                       .kind = kind,
                       .flags = s->flags});
}

// Empties the slots: a signal handler may drain them while one is being filled, and the program
// then continues behind it.
static void encode_slots(af_thread* t) {
    af_encoder* const e = t->stream.encoder;
    af_history last = e->model.last;
    af_area area = {0};
    uint64_t until = t->stream.until;
    uint32_t accesses = 0;
    const af_slot* const end = t->next;
    for (af_slot* s = t->slots; s != end; s++) {
        const uint64_t gap = s->start - until, shape = s->shape;
        if (AF_LIKELY(gap <= UINT32_MAX && shape >> AF_KIND_SHIFT == AF_ACCESS)) {
            const uint64_t line = s->value;
            if (AF_UNLIKELY(line - area.from >= area.lines))
                area = af_area_of(&af_shared->areas, line);
            // Span and flags have the places of the model's shape, and the kind above them is 0.
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
        t->stream.until = until;
        af_encode_slot(t, &t->stream, s);
        until = t->stream.until;
        last = e->model.last;
        s->kind = AF_SKIP;
    }
    e->model.last = last;
    e->events += accesses;
    t->stream.until = until;
    if (af_encoder_full(e)) af_seal_chunk(t, &t->stream);
}

static void forget_slots(af_thread* t) {
    for (af_slot* s = t->slots; s != t->next; s++) s->kind = AF_SKIP;
}

void af_drain_slots(af_thread* t) {
    if (af_recording()) {
        if (t->recency != NULL) af_windows_warm(t);
        if (t->skeleton.encoder != NULL) af_skeleton_take(t);
        if (t->recency == NULL || af_in_window(t))
            encode_slots(t);
        else
            forget_slots(t);
    }
    for (int i = 0; i < AF_OPEN; i++) t->open[i].base = AF_NO_LINE;
    t->base += (uint64_t)(t->next - t->slots);
    t->next = t->warmed = t->sketched = t->slots;
    af_close_lines(t);
    t->pointer = 0;
}

void af_drain(af_thread* t) {
    if (t->busy) {  // in a signal handler that interrupted this very function
        if (t->next >= t->slots + AF_SLOTS) t->next = t->slots + AF_SLOTS;  // the spare ones
        return;
    }
    af_shut(t);
    af_drain_slots(t);
    af_open(t);
}
