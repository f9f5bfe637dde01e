// The payload of a chunk: events as columns of bytes, each column packed by itself (huffman.h).
//
//   control  0nnnnnnn   n+1 accesses, each exactly as predicted (model.h)
//            10llss00   one access: `ss` is the encoding of its shape, `ll` that of its line
//            110ekkkk   an event of kind k; e: the rarer fields follow
//   gap, span, reads, writes    of shapes that were not predicted; flags are bytes after writes
//   near, far                   lines that were not predicted: distance to the line before, or to
//                               what the shape suggests
//   other                       fields of events that are no accesses
//
// Numbers are varints, low bits first. Their first bytes are in one column, their second bytes in
// another, and all further bytes in one common column: the place of a byte limits its values.
//
// No function here allocates or fails: the encoder holds AF_COLUMN_BYTES for each column, which is
// room for AF_ROOM_EVENTS events as long as af_encoder_full() is false; the decoder returns the
// place of wrong input.
#pragma once

#include "format.h"
#include "huffman.h"
#include "model.h"

enum {
    AF_CONTROL,
    // Columns of numbers: one for their first bytes, and the next one for their second bytes.
    AF_GAPS,
    AF_SPANS = AF_GAPS + 2,
    AF_READS = AF_SPANS + 2,
    AF_WRITES = AF_READS + 2,
    AF_NEAR = AF_WRITES + 2,
    AF_FAR = AF_NEAR + 2,
    AF_OTHER = AF_FAR + 2,
    AF_REST = AF_OTHER + 2,  // third bytes and on, of all numbers
    AF_COLUMNS,
};

#define AF_ROOM_EVENTS 2048
#define AF_FULL_BYTES (160u * 1024)                            /* of all columns: time to seal */
#define AF_COLUMN_BYTES (AF_FULL_BYTES + AF_ROOM_EVENTS * 40u) /* no event has more in one */
#define AF_SPARE_BYTES (16u * 1024)
#define AF_PAYLOAD_BYTES (AF_FULL_BYTES + AF_ROOM_EVENTS * 80u + AF_COLUMNS * 16u)

// ------------------------------------------------------------------------------------ encoder

typedef struct af_encoder {
    af_model model;
    uint32_t events;  // of the open chunk
    uint32_t run;     // predicted accesses not yet written out
    uint8_t* end[AF_COLUMNS];
    uint8_t column[AF_COLUMNS][AF_COLUMN_BYTES];
} af_encoder;

static inline void af_encoder_reset(af_encoder* e) {
    memset(&e->model, 0, sizeof e->model);
    e->events = e->run = 0;
    for (int i = 0; i < AF_COLUMNS; i++) e->end[i] = e->column[i];
}

// Whether the chunk must be sealed now: it may lack room for AF_ROOM_EVENTS more events.
static inline int af_encoder_full(const af_encoder* e) {
    size_t bytes = 0;
    for (int i = 0; i < AF_COLUMNS; i++) bytes += (size_t)(e->end[i] - e->column[i]);
    return bytes >= AF_FULL_BYTES || e->events > AF_CHUNK_MAX_EVENTS - AF_ROOM_EVENTS;
}

static inline void af_put_long(af_encoder* e, int column, uint64_t value) {
    *e->end[column]++ = (uint8_t)(value | 0x80);
    *e->end[column + 1]++ = (uint8_t)(value >> 7 | 0x80);
    e->end[AF_REST] = af_put_varint(e->end[AF_REST], value >> 14);
}

// Most numbers take one or two bytes, and which is as hard to predict as the accesses: no branch.
static inline void af_put(af_encoder* e, int column, uint64_t value) {
    if (__builtin_expect(value < 1u << 14, 1)) {
        const unsigned more = value >= 0x80;
        *e->end[column]++ = (uint8_t)(value | more << 7);
        *e->end[column + 1] = (uint8_t)(value >> 7);  // overwritten next, unless there is more
        e->end[column + 1] += more;
    } else {
        af_put_long(e, column, value);
    }
}

// A number that hardly ever takes more than one byte.
static inline void af_put_small(af_encoder* e, int column, uint64_t value) {
    if (__builtin_expect(value < 0x80, 1))
        *e->end[column]++ = (uint8_t)value;
    else
        af_put(e, column, value);
}

static inline void af_put_byte(af_encoder* e, int column, unsigned value) {
    *e->end[column]++ = (uint8_t)value;
}

static inline void af_flush_run(af_encoder* e) {
    if (e->run > 0) af_put_byte(e, AF_CONTROL, e->run - 1);
    e->run = 0;
}

// Encodes an access whose shape or line is not as predicted.
static inline void af_tell(af_encoder* e, unsigned line_mode, unsigned shape_mode) {
    af_flush_run(e);
    af_put_byte(e, AF_CONTROL, 0x80 | line_mode << 4 | shape_mode << 2);
}

static inline void af_tell_shape(af_encoder* e, uint64_t timing, uint32_t counts) {
    const unsigned flags = (unsigned)(timing >> 48);
    af_put(e, AF_GAPS, (uint32_t)timing);
    af_put(e, AF_SPANS, timing >> 32 & UINT16_MAX);
    af_put_small(e, AF_READS, (uint64_t)(counts & UINT16_MAX) << 1 | (flags != 0));
    af_put_small(e, AF_WRITES, counts >> 16);
    if (flags != 0) af_put_byte(e, AF_WRITES, flags);
}

// Encodes one access, not yet counted as an event of the chunk. `last` is the model's own, or a
// copy that a loop over many accesses keeps, in registers where this function is inlined.
static inline __attribute__((always_inline)) void af_encode_access(af_encoder* e, af_history* last,
                                                                   uint64_t line, uint64_t timing,
                                                                   uint32_t counts) {
    af_model* const m = &e->model;
    af_shape* const expected = af_shape3_after(m, last);
    af_shape* const usual = af_shape1_after(m, last);
    uint64_t* const delta = af_delta_after(m, last);
    const uint64_t from_last = line - last->line, from_delta = from_last - *delta;
    const int known = af_is_shape(expected, timing, counts);
    // The shape is not loaded as a whole: both halves may just have been stored.
    const af_shape shape =
        known ? (af_shape){timing, expected->counts} : af_shape_of(timing, counts);
    const uint64_t shapes = af_shapes_with(last, shape);
    af_local* const local = af_local_of(m, shapes);
    if (known && from_delta == 0) {
        *usual = shape;
        af_learn_local(local, line);
        af_go_on(last, shapes, line);
        if (++e->run == 128) af_flush_run(e);
        return;
    }
    const unsigned shape_mode = known ? 0 : 2 - af_is_shape(usual, timing, counts);
    const uint64_t from_shape = line - local->line - local->stride;
    *usual = shape;
    *expected = shape;
    *delta = from_last;
    af_learn_local(local, line);
    af_go_on(last, shapes, line);
    // Prefetched before the encoding, so that the next prediction is in the cache by then.
    __builtin_prefetch(af_delta_after(m, last));
    __builtin_prefetch(af_shape3_after(m, last));
    if (from_delta == 0) {
        af_tell(e, 0, shape_mode);
    } else if (from_shape == 0) {
        af_tell(e, 1, shape_mode);
    } else {
        const uint64_t near_last = af_zigzag(from_last), near_shape = af_zigzag(from_shape);
        const unsigned far = near_last >= near_shape;
        af_tell(e, 2 + far, shape_mode);
        af_put(e, far ? AF_FAR : AF_NEAR, far ? near_shape : near_last);
    }
    if (shape_mode == 2) af_tell_shape(e, timing, counts);
}

static inline void af_encode(af_encoder* e, const af_event* event) {
    e->events++;
    if (event->kind == 0 && event->aux == 0) {
        af_encode_access(e, &e->model.last, event->value,
                         event->gap | (uint64_t)event->span << 32 | (uint64_t)event->flags << 48,
                         event->reads | (uint32_t)event->writes << 16);
        return;
    }
    af_flush_run(e);
    const unsigned kind = event->kind & 15;
    const unsigned extra = event->span != 0 || event->aux != 0 || event->reads != 0 ||
                           event->writes != 0 || event->flags != 0;
    af_put_byte(e, AF_CONTROL, 0xc0 | extra << 4 | kind);
    af_put(e, AF_OTHER, event->gap);
    af_put(e, AF_OTHER, af_zigzag(event->value - e->model.value[kind]));
    e->model.value[kind] = event->value;
    if (extra) {
        af_put(e, AF_OTHER, event->span);
        af_put(e, AF_OTHER, event->aux);
        af_put(e, AF_OTHER, event->reads);
        af_put(e, AF_OTHER, event->writes);
        af_put_byte(e, AF_OTHER, event->flags);
    }
}

// Memory that no column needs now, AF_SPARE_BYTES, at the end of the shortest one: all columns
// together have at most AF_FULL_BYTES and 80 bytes for each of AF_ROOM_EVENTS. So no function that
// encodes needs much of the stack, which is the program's.
static inline void* af_spare(af_encoder* e) {
    int shortest = 0;
    for (int i = 1; i < AF_COLUMNS; i++)
        if (e->end[i] - e->column[i] < e->end[shortest] - e->column[shortest]) shortest = i;
    const uintptr_t end = (uintptr_t)(e->column[shortest] + AF_COLUMN_BYTES);
    return (void*)((end - AF_SPARE_BYTES) & ~(uintptr_t)63);
}

// Writes the payload at `out`, which has AF_PAYLOAD_BYTES, and returns its end.
static inline uint8_t* af_pack(af_encoder* e, uint8_t* out) {
    af_flush_run(e);
    af_packing* const work = (af_packing*)af_spare(e);
    for (int i = 0; i < AF_COLUMNS; i++)
        out = af_pack_column(out, e->column[i], (size_t)(e->end[i] - e->column[i]), work);
    return out;
}

// ------------------------------------------------------------------------------------ decoder

typedef struct af_decoder {
    af_model model;
    const uint8_t* at[AF_COLUMNS];
    const uint8_t* end[AF_COLUMNS];
    uint8_t column[AF_COLUMNS][AF_COLUMN_BYTES];
} af_decoder;

static inline int af_get_byte(af_decoder* d, int column, uint8_t* value) {
    if (d->at[column] == d->end[column]) return 0;
    *value = *d->at[column]++;
    return 1;
}

// Reads the next number of a column; 0 when there is none or the number is above `most`.
static inline int af_get(af_decoder* d, int column, uint64_t most, uint64_t* value) {
    uint8_t byte;
    if (!af_get_byte(d, column, &byte)) return 0;
    *value = byte & 0x7f;
    if (byte >= 0x80) {
        if (!af_get_byte(d, column + 1, &byte)) return 0;
        *value |= (uint64_t)(byte & 0x7f) << 7;
    }
    if (byte >= 0x80) {
        uint64_t rest;
        const uint8_t* const next = af_get_varint(d->at[AF_REST], d->end[AF_REST], &rest);
        if (next == NULL || rest > UINT64_MAX >> 14) return 0;
        d->at[AF_REST] = next;
        *value |= rest << 14;
    }
    return *value <= most;
}

static inline void af_fill_access(af_event* event, uint64_t line, af_shape shape) {
    event->value = line;
    event->gap = (uint32_t)shape.timing;
    event->span = (uint16_t)(shape.timing >> 32);
    event->aux = 0;
    event->reads = (uint16_t)shape.counts;
    event->writes = (uint16_t)(shape.counts >> 16);
    event->kind = 0;
    event->flags = (uint8_t)(shape.timing >> 48);
    event->reserved = 0;
}

// Learns as the encoder does when all was as predicted.
static inline void af_decode_run(af_model* m, af_event* out, uint32_t run) {
    af_history last = m->last;
    for (; run > 0; run--) {
        const af_shape shape = *af_shape3_after(m, &last);
        const uint64_t line = last.line + *af_delta_after(m, &last);
        const uint64_t shapes = af_shapes_with(&last, shape);
        af_fill_access(out++, line, shape);
        *af_shape1_after(m, &last) = shape;
        af_learn_local(af_local_of(m, shapes), line);
        af_go_on(&last, shapes, line);
    }
    m->last = last;
}

static inline int af_decode_shape(af_decoder* d, af_shape* shape) {
    uint64_t gap, span, reads, writes;
    uint8_t flags = 0;
    if (!af_get(d, AF_GAPS, UINT32_MAX, &gap) || !af_get(d, AF_SPANS, UINT16_MAX, &span) ||
        !af_get(d, AF_READS, 2 * UINT16_MAX + 1, &reads) ||
        !af_get(d, AF_WRITES, UINT16_MAX, &writes))
        return 0;
    if ((reads & 1) != 0 && !af_get_byte(d, AF_WRITES, &flags)) return 0;
    *shape = af_shape_of(gap | span << 32 | (uint64_t)flags << 48,
                         (uint32_t)(reads >> 1 | writes << 16));
    return 1;
}

static inline int af_decode_access(af_decoder* d, unsigned control, af_event* out) {
    af_model* const m = &d->model;
    af_history* const last = &m->last;
    const unsigned line_mode = control >> 4 & 3, shape_mode = control >> 2 & 3;
    if ((control & 3) != 0 || shape_mode == 3) return 0;
    uint64_t away = 0;
    if (line_mode >= 2 && !af_get(d, line_mode == 2 ? AF_NEAR : AF_FAR, UINT64_MAX, &away))
        return 0;
    af_shape shape = shape_mode == 0 ? *af_shape3_after(m, last) : *af_shape1_after(m, last);
    if (shape_mode == 2 && !af_decode_shape(d, &shape)) return 0;
    const uint64_t shapes = af_shapes_with(last, shape);
    af_local* const local = af_local_of(m, shapes);
    uint64_t* const delta = af_delta_after(m, last);
    const uint64_t line = af_unzigzag(away) + (line_mode == 0   ? last->line + *delta
                                               : line_mode == 2 ? last->line
                                                                : local->line + local->stride);
    af_fill_access(out, line, shape);
    *af_shape1_after(m, last) = shape;
    *af_shape3_after(m, last) = shape;
    *delta = line - last->line;
    af_learn_local(local, line);
    af_go_on(last, shapes, line);
    return 1;
}

static inline int af_decode_other(af_decoder* d, unsigned control, af_event* out) {
    const unsigned kind = control & 15;
    uint64_t gap, away, span, aux, reads, writes;
    if ((control & 0x20) != 0 || kind >= AF_KINDS) return 0;
    if (!af_get(d, AF_OTHER, UINT32_MAX, &gap) || !af_get(d, AF_OTHER, UINT64_MAX, &away)) return 0;
    memset(out, 0, sizeof *out);
    out->gap = (uint32_t)gap;
    out->value = d->model.value[kind] += af_unzigzag(away);
    out->kind = (uint8_t)kind;
    if ((control & 0x10) == 0) return 1;
    if (!af_get(d, AF_OTHER, UINT16_MAX, &span) || !af_get(d, AF_OTHER, UINT16_MAX, &aux) ||
        !af_get(d, AF_OTHER, UINT16_MAX, &reads) || !af_get(d, AF_OTHER, UINT16_MAX, &writes))
        return 0;
    out->span = (uint16_t)span;
    out->aux = (uint16_t)aux;
    out->reads = (uint16_t)reads;
    out->writes = (uint16_t)writes;
    return af_get_byte(d, AF_OTHER, &out->flags);
}

// Decodes a chunk's payload into exactly `events` events. Returns NULL on success, otherwise the
// place in the payload up to which it was valid: the end where the columns unpack but do not hold
// these events.
static inline const uint8_t* af_decode(af_decoder* d, const uint8_t* p, const uint8_t* end,
                                       af_event* out, uint32_t events) {
    memset(&d->model, 0, sizeof d->model);
    for (int i = 0; i < AF_COLUMNS; i++) {
        size_t n;
        const uint8_t* next = af_unpack_column(p, end, d->column[i], AF_COLUMN_BYTES, &n);
        if (next == NULL) return p;
        p = next;
        d->at[i] = d->column[i];
        d->end[i] = d->column[i] + n;
    }
    if (p != end) return p;
    for (af_event* const last = out + events; out != last;) {
        uint8_t control;
        if (!af_get_byte(d, AF_CONTROL, &control)) return end;
        if (control < 0x80) {
            const uint32_t run = control + 1u;
            if (run > (size_t)(last - out)) return end;
            af_decode_run(&d->model, out, run);
            out += run;
        } else {
            if (control < 0xc0 ? !af_decode_access(d, control, out)
                               : !af_decode_other(d, control, out))
                return end;
            out++;
        }
    }
    for (int i = 0; i < AF_COLUMNS; i++)
        if (d->at[i] != d->end[i]) return end;
    return NULL;
}
