// The trace on disk: one folder, shared by the capture runtime (C, writes) and the reader (C++).
//
//   index.aft        header | one record per stream | crc         written last by the runtime
//   stream-0000.aft  header | chunk | chunk | …                   one file per stream
//   meta.json        what a person and the campaign need; made by the Python side, last of all
//
// A chunk decodes by itself: 20 bytes of header (magic, sequence number, events, payload bytes,
// CRC-32C over the other header fields and the payload), then the payload, a string of events:
//
//   0nnnnnnn          n+1 accesses, each exactly as predicted
//   10llss00 …        one access: `ss` says how its shape, `ll` how its line is told
//   110ekkkk …        an event of kind k; e: the rarer fields follow
//
// "Shape" is everything of an access but its line: gap, span, reads, writes, flags. Shapes and
// lines are predicted from what came before (finite-context tables, as VPC-like trace compressors
// have them): the shapes of the last events stand in for the program counter that is not recorded.
// Regular code costs well under a byte an event; what is not predicted is a varint.
//
// Everything is little endian. Nothing here allocates or fails: the encoder's caller provides
// AF_EVENT_MAX_BYTES of room per event, the decoder says where the input is wrong.
#ifndef AUTOFINITY_TRACE_CODEC_H
#define AUTOFINITY_TRACE_CODEC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little endian; byte swapping is not written"
#endif

#define AF_VERSION 1u
#define AF_STREAM_MAGIC 0x3153545254464101ull /* file header of a stream */
#define AF_INDEX_MAGIC 0x3158444e49464101ull  /* file header of the index */
#define AF_CHUNK_MAGIC 0x31434641u            /* "AFC1" */
#define AF_EVENT_MAX_BYTES 64
#define AF_CHUNK_MAX_EVENTS (1u << 20)
#define AF_CHUNK_MAX_BYTES (1u << 23)
#define AF_MAX_STREAMS (1u << 19)
#define AF_KINDS 14

// Same layout as autofinity::trace::Event (event.hpp); the reader asserts it.
typedef struct af_event {
    uint64_t value;
    uint32_t gap;
    uint16_t span;
    uint16_t aux;
    uint16_t reads;
    uint16_t writes;
    uint8_t kind;
    uint8_t flags;
    uint16_t reserved;
} af_event;

typedef struct af_stream_header {
    uint64_t magic;
    uint32_t version;
    uint32_t stream;
    uint32_t parent;
    uint32_t crc;  // of the fields before it
} af_stream_header;

typedef struct af_chunk_header {
    uint32_t magic;
    uint32_t sequence;
    uint32_t events;
    uint32_t bytes;
    uint32_t crc;  // of the four fields before it and the payload
} af_chunk_header;

// What the capture knew at the end. Followed by `streams` records and a CRC-32C of all before it.
typedef struct af_index_header {
    uint64_t magic;
    uint32_t version;
    uint32_t streams;
    uint32_t flags;  // AF_INDEX_*
    uint32_t reserved;
    uint64_t wall_ns;     // of the captured program, start of the runtime to its end
    uint64_t cpu_ns;      // user + system, all threads
    uint64_t roi_begins;  // how often the region of interest began
    uint64_t spins;       // polls that were recognised as waiting and left out
} af_index_header;

typedef struct af_index_stream {
    uint32_t parent;
    uint32_t chunks;
    uint64_t events;
    uint64_t accesses;
    uint64_t instructions;
    uint64_t roi_accesses;
    uint64_t roi_instructions;
    uint64_t bytes;  // of the stream's file
    uint32_t crc;    // CRC-32C over the chunks' crc fields, in order
    uint32_t reserved;
} af_index_stream;

// Events roi_end are candidates, numbered by value; only the highest counts (and the first begin).
#define AF_INDEX_ROI_CANDIDATES 1u
// Instruction gaps come from a block table; otherwise they are the documented estimate.
#define AF_INDEX_COUNTED_INSTRUCTIONS 2u

// ------------------------------------------------------------------------------------ checksum

typedef struct af_crc_table {
    uint32_t t[8][256];
} af_crc_table;

// CRC-32C (Castagnoli), eight bytes a step (Kounavis and Berry's slicing).
static inline void af_crc_init(af_crc_table* table) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
        table->t[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++)
        for (int k = 1; k < 8; k++)
            table->t[k][i] = (table->t[k - 1][i] >> 8) ^ table->t[0][table->t[k - 1][i] & 0xff];
}

static inline uint32_t af_crc(const af_crc_table* table, uint32_t crc, const void* data,
                              size_t size) {
    const uint8_t* p = (const uint8_t*)data;
    crc = ~crc;
    while (size >= 8) {
        uint64_t word;
        __builtin_memcpy(&word, p, 8);
        word ^= crc;
        crc = table->t[7][word & 0xff] ^ table->t[6][(word >> 8) & 0xff] ^
              table->t[5][(word >> 16) & 0xff] ^ table->t[4][(word >> 24) & 0xff] ^
              table->t[3][(word >> 32) & 0xff] ^ table->t[2][(word >> 40) & 0xff] ^
              table->t[1][(word >> 48) & 0xff] ^ table->t[0][word >> 56];
        p += 8;
        size -= 8;
    }
    while (size-- > 0) crc = (crc >> 8) ^ table->t[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

static inline uint32_t af_chunk_crc(const af_crc_table* table, const af_chunk_header* header,
                                    const void* payload) {
    uint32_t crc = af_crc(table, 0, header, offsetof(af_chunk_header, crc));
    return af_crc(table, crc, payload, header->bytes);
}

// ------------------------------------------------------------------------------------ the model

#define AF_FAR_BITS 12
#define AF_LOCAL_BITS 10
#define AF_SHAPE_BITS 10
#define AF_SHAPE1_BITS 8

// Everything of an access but its line, packed so that two of them compare in two words.
typedef struct af_shape {
    uint64_t timing;  // gap | span << 32 | flags << 48
    uint32_t counts;  // reads | writes << 16
    uint32_t hash;
} af_shape;

typedef struct af_local {
    uint64_t line;
    uint64_t stride;
} af_local;

// State that encoder and decoder carry through a chunk; zeroed at its start.
typedef struct af_model {
    uint64_t line;                          // of the last access
    uint64_t delta[3];                      // last, last but one, …
    uint32_t shape[3];                      // hashes of the last shapes
    uint64_t value[16];                     // last value of each kind
    uint64_t far_delta[1u << AF_FAR_BITS];  // by the last three deltas: next delta
    af_local local[1u << AF_LOCAL_BITS];    // by shape and the one before: line and stride
    af_shape shape3[1u << AF_SHAPE_BITS];   // by the last three shapes: next shape
    af_shape shape1[1u << AF_SHAPE1_BITS];  // by the last shape: next shape
} af_model;

static inline uint32_t af_mix(uint64_t x, int bits) {
    return (uint32_t)((x * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

static inline af_shape af_shape_of(uint32_t gap, uint16_t span, uint16_t reads, uint16_t writes,
                                   uint8_t flags) {
    af_shape shape;
    shape.timing = gap | (uint64_t)span << 32 | (uint64_t)flags << 48;
    shape.counts = reads | (uint32_t)writes << 16;
    shape.hash = af_mix(shape.timing * 31 + shape.counts, 32);
    return shape;
}

static inline uint32_t af_shape3_slot(const af_model* m) {
    return af_mix(
        m->shape[0] + (uint64_t)m->shape[1] * 0x10001u + (uint64_t)m->shape[2] * 0x3000007u,
        AF_SHAPE_BITS);
}

static inline uint32_t af_shape1_slot(const af_model* m) {
    return af_mix(m->shape[0], AF_SHAPE1_BITS);
}

static inline uint32_t af_far_slot(const af_model* m) {
    return af_mix(m->delta[0] + m->delta[1] * 0x85ebca6bull + m->delta[2] * 0xc2b2ae3d27d4ebull,
                  AF_FAR_BITS);
}

static inline uint32_t af_local_slot(const af_model* m, uint32_t shape_hash) {
    return af_mix(shape_hash + (uint64_t)m->shape[0] * 0x10001u, AF_LOCAL_BITS);
}

static inline void af_learn(af_model* m, af_shape shape, uint64_t line, uint32_t far_slot,
                            uint32_t local_slot, uint32_t slot3, uint32_t slot1) {
    const uint64_t delta = line - m->line;
    m->far_delta[far_slot] = delta;
    m->local[local_slot].stride = line - m->local[local_slot].line;
    m->local[local_slot].line = line;
    m->shape3[slot3] = shape;
    m->shape1[slot1] = shape;
    m->line = line;
    m->delta[2] = m->delta[1];
    m->delta[1] = m->delta[0];
    m->delta[0] = delta;
    m->shape[2] = m->shape[1];
    m->shape[1] = m->shape[0];
    m->shape[0] = shape.hash;
}

static inline int af_same_shape(const af_shape* a, const af_shape* b) {
    return a->timing == b->timing && a->counts == b->counts;
}

static inline uint64_t af_zigzag(uint64_t delta) { return (delta << 1) ^ (0 - (delta >> 63)); }

static inline uint64_t af_unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

// ------------------------------------------------------------------------------------ encoder

typedef struct af_encoder {
    af_model model;
    uint32_t events;  // of the open chunk
    uint32_t run;     // predicted accesses not yet written out
} af_encoder;

static inline void af_encoder_reset(af_encoder* e) { memset(e, 0, sizeof *e); }

static inline uint8_t* af_put_varint(uint8_t* out, uint64_t value) {
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

// Writes out a pending run; to be called before a chunk is sealed.
static inline uint8_t* af_flush(af_encoder* e, uint8_t* out) {
    if (e->run > 0) *out++ = (uint8_t)(e->run - 1);
    e->run = 0;
    return out;
}

// Appends one event at `out` (AF_EVENT_MAX_BYTES of room) and returns the new end.
static inline uint8_t* af_encode(af_encoder* e, uint8_t* out, const af_event* event) {
    af_model* m = &e->model;
    e->events++;
    if (event->kind == 0 && event->aux == 0) {
        const af_shape shape =
            af_shape_of(event->gap, event->span, event->reads, event->writes, event->flags);
        const uint32_t slot3 = af_shape3_slot(m), slot1 = af_shape1_slot(m);
        const uint32_t far_slot = af_far_slot(m), local_slot = af_local_slot(m, shape.hash);
        const uint64_t line = event->value;
        const uint64_t by_delta = m->line + m->far_delta[far_slot];
        const uint64_t by_shape = m->local[local_slot].line + m->local[local_slot].stride;
        const int shape_mode = af_same_shape(&shape, &m->shape3[slot3])   ? 0
                               : af_same_shape(&shape, &m->shape1[slot1]) ? 1
                                                                          : 2;
        if (line == by_delta && shape_mode == 0) {
            if (++e->run == 128) out = af_flush(e, out);
        } else {
            out = af_flush(e, out);
            const uint64_t near_last = af_zigzag(line - m->line);
            const uint64_t near_shape = af_zigzag(line - by_shape);
            const int line_mode = line == by_delta         ? 0
                                  : line == by_shape       ? 1
                                  : near_last < near_shape ? 2
                                                           : 3;
            *out++ = (uint8_t)(0x80 | line_mode << 4 | shape_mode << 2);
            if (shape_mode == 2) {
                out = af_put_varint(out, event->gap);
                out = af_put_varint(out, event->span);
                out = af_put_varint(out, (uint64_t)event->reads << 1 | (event->flags != 0));
                out = af_put_varint(out, event->writes);
                if (event->flags != 0) *out++ = event->flags;
            }
            if (line_mode == 2) out = af_put_varint(out, near_last);
            if (line_mode == 3) out = af_put_varint(out, near_shape);
        }
        af_learn(m, shape, line, far_slot, local_slot, slot3, slot1);
        return out;
    }
    out = af_flush(e, out);
    const int extra = event->span != 0 || event->aux != 0 || event->reads != 0 ||
                      event->writes != 0 || event->flags != 0;
    *out++ = (uint8_t)(0xc0 | extra << 4 | (event->kind & 15));
    out = af_put_varint(out, event->gap);
    out = af_put_varint(out, af_zigzag(event->value - m->value[event->kind & 15]));
    m->value[event->kind & 15] = event->value;
    if (extra) {
        out = af_put_varint(out, event->span);
        out = af_put_varint(out, event->aux);
        out = af_put_varint(out, event->reads);
        out = af_put_varint(out, event->writes);
        *out++ = event->flags;
    }
    return out;
}

// ------------------------------------------------------------------------------------ decoder

// Returns the end of the varint, or NULL where it runs over `end` or 64 bits.
static inline const uint8_t* af_get_varint(const uint8_t* p, const uint8_t* end, uint64_t* value) {
    uint64_t result = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (p == end) return NULL;
        const uint8_t byte = *p++;
        if (shift == 63 && byte > 1) return NULL;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = result;
            return p;
        }
    }
    return NULL;
}

static inline void af_fill_access(af_event* event, uint64_t line, const af_shape* shape) {
    event->value = line;
    event->gap = (uint32_t)shape->timing;
    event->span = (uint16_t)(shape->timing >> 32);
    event->aux = 0;
    event->reads = (uint16_t)shape->counts;
    event->writes = (uint16_t)(shape->counts >> 16);
    event->kind = 0;
    event->flags = (uint8_t)(shape->timing >> 48);
    event->reserved = 0;
}

// Decodes a chunk's payload into exactly `events` events. `model` must be zeroed. Returns NULL when
// all is well, otherwise the place in the payload that is wrong.
static inline const uint8_t* af_decode(af_model* m, const uint8_t* p, const uint8_t* end,
                                       af_event* out, uint32_t events) {
    af_event* const last = out + events;
    uint64_t a, b, c, d;
    while (out != last) {
        const uint8_t* const at = p;
        if (p == end) return at;
        const uint8_t control = *p++;
        if (control < 0x80) {
            uint32_t run = control + 1u;
            if (run > (size_t)(last - out)) return at;
            while (run-- > 0) {
                const uint32_t slot3 = af_shape3_slot(m), slot1 = af_shape1_slot(m);
                const af_shape shape = m->shape3[slot3];
                const uint32_t far_slot = af_far_slot(m);
                const uint32_t local_slot = af_local_slot(m, shape.hash);
                const uint64_t line = m->line + m->far_delta[far_slot];
                af_fill_access(out++, line, &shape);
                af_learn(m, shape, line, far_slot, local_slot, slot3, slot1);
            }
        } else if (control < 0xc0) {
            const int line_mode = (control >> 4) & 3, shape_mode = (control >> 2) & 3;
            if ((control & 3) != 0 || shape_mode == 3) return at;
            const uint32_t slot3 = af_shape3_slot(m), slot1 = af_shape1_slot(m);
            af_shape shape = shape_mode == 0 ? m->shape3[slot3] : m->shape1[slot1];
            if (shape_mode == 2) {
                if (!(p = af_get_varint(p, end, &a)) || !(p = af_get_varint(p, end, &b)) ||
                    !(p = af_get_varint(p, end, &c)) || !(p = af_get_varint(p, end, &d)))
                    return at;
                uint8_t flags = 0;
                if (c & 1) {
                    if (p == end) return at;
                    flags = *p++;
                }
                c >>= 1;
                if (a > UINT32_MAX || b > UINT16_MAX || c > UINT16_MAX || d > UINT16_MAX) return at;
                shape = af_shape_of((uint32_t)a, (uint16_t)b, (uint16_t)c, (uint16_t)d, flags);
            }
            const uint32_t far_slot = af_far_slot(m), local_slot = af_local_slot(m, shape.hash);
            const uint64_t by_shape = m->local[local_slot].line + m->local[local_slot].stride;
            uint64_t line = line_mode == 0   ? m->line + m->far_delta[far_slot]
                            : line_mode == 2 ? m->line
                                             : by_shape;
            if (line_mode >= 2) {
                if (!(p = af_get_varint(p, end, &a))) return at;
                line += af_unzigzag(a);
            }
            af_fill_access(out++, line, &shape);
            af_learn(m, shape, line, far_slot, local_slot, slot3, slot1);
        } else {
            const uint8_t kind = control & 15;
            if ((control & 0x20) != 0 || kind >= AF_KINDS) return at;
            memset(out, 0, sizeof *out);
            if (!(p = af_get_varint(p, end, &a)) || a > UINT32_MAX ||
                !(p = af_get_varint(p, end, &b)))
                return at;
            out->gap = (uint32_t)a;
            out->value = m->value[kind] += af_unzigzag(b);
            out->kind = kind;
            if (control & 0x10) {
                if (!(p = af_get_varint(p, end, &a)) || !(p = af_get_varint(p, end, &b)) ||
                    !(p = af_get_varint(p, end, &c)) || !(p = af_get_varint(p, end, &d)) ||
                    a > UINT16_MAX || b > UINT16_MAX || c > UINT16_MAX || d > UINT16_MAX ||
                    p == end)
                    return at;
                out->span = (uint16_t)a;
                out->aux = (uint16_t)b;
                out->reads = (uint16_t)c;
                out->writes = (uint16_t)d;
                out->flags = *p++;
            }
            out++;
        }
    }
    return p == end ? NULL : p;
}

#endif
