// The trace on disk: one folder, shared by the capture runtime (C, writes) and the reader (C++).
//
//   index.aft        header | one record per stream | crc         written last by the runtime
//   stream-0000.aft  header | chunk | chunk | …                   one file per stream
//   meta.json        what a person and the campaign need; made by the Python side, last of all
//
// A chunk decodes by itself: 20 bytes of header (magic, sequence number, events, payload bytes,
// CRC-32C over the other header fields and the payload), then the payload (codec.h). Everything is
// little endian.
#pragma once

#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little endian; byte swapping is not written"
#endif

#define AF_VERSION 3u
#define AF_STREAM_MAGIC 0x3153545254464101ull /* file header of a stream */
#define AF_INDEX_MAGIC 0x3158444e49464101ull  /* file header of the index */
#define AF_CHUNK_MAGIC 0x31434641u            /* "AFC1" */
#define AF_CHUNK_MAX_EVENTS (1u << 20)
#define AF_CHUNK_MAX_BYTES (1u << 22)
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

// Facts that the capture knew at the end. `streams` records and a CRC-32C of all before it follow.
typedef struct af_index_header {
    uint64_t magic;
    uint32_t version;
    uint32_t streams;
    uint32_t flags;  // AF_INDEX_*
    uint32_t reserved;
    uint64_t wall_ns;     // of the captured program, start of the runtime to its end
    uint64_t cpu_ns;      // user + system, all threads
    uint64_t roi_begins;  // number of times that the region of interest began
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
// Addresses are those of a process without randomisation, whether it ran at them or not.
#define AF_INDEX_STEADY_ADDRESSES 4u
// Only windows were recorded (sampled_format.h).
#define AF_INDEX_SAMPLED 8u

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
