/* A small LZ77 coder for chunks of up to 64 KiB.
 *
 * Stream: control byte c. c < 128: c + 1 literal bytes follow. c >= 128: a match of c - 128 + 4
 * bytes at the distance given by the next two bytes (low byte first, 1 to 65535).
 */
#ifndef DEDUP_LZ_H
#define DEDUP_LZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LZ_HASH_BITS = 12, LZ_MIN_MATCH = 4, LZ_MAX_MATCH = 131, LZ_MAX_LITERALS = 128 };

/* Largest size that `bytes` of input can become. */
static inline size_t lz_bound(size_t bytes) { return bytes + bytes / LZ_MAX_LITERALS + 1; }

static inline uint32_t lz_word(const uint8_t* at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static inline uint8_t* lz_put_literals(uint8_t* out, const uint8_t* from, size_t count) {
    while (count > 0) {
        const size_t run = count < LZ_MAX_LITERALS ? count : LZ_MAX_LITERALS;
        *out++ = (uint8_t)(run - 1);
        memcpy(out, from, run);
        out += run;
        from += run;
        count -= run;
    }
    return out;
}

/* Compresses and returns the size; `table` is scratch of 2^LZ_HASH_BITS entries. */
static inline size_t lz_compress(const uint8_t* in, size_t bytes, uint8_t* out, uint16_t* table) {
    uint8_t* const start = out;
    size_t literals = 0, at = 0;
    memset(table, 0, sizeof(uint16_t) << LZ_HASH_BITS);
    while (at + LZ_MIN_MATCH <= bytes) {
        const uint32_t word = lz_word(in + at);
        const uint32_t hash = word * 2654435761u >> (32 - LZ_HASH_BITS);
        const size_t seen = table[hash];
        table[hash] = (uint16_t)at;
        if (seen >= at || lz_word(in + seen) != word) {
            ++at;
            continue;
        }
        size_t length = LZ_MIN_MATCH;
        while (length < LZ_MAX_MATCH && at + length < bytes && in[seen + length] == in[at + length])
            ++length;
        out = lz_put_literals(out, in + literals, at - literals);
        *out++ = (uint8_t)(128 + length - LZ_MIN_MATCH);
        *out++ = (uint8_t)(at - seen);
        *out++ = (uint8_t)((at - seen) >> 8);
        at += length;
        literals = at;
    }
    return (size_t)(lz_put_literals(out, in + literals, bytes - literals) - start);
}

/* Expands into at most `room` bytes and returns the size, or SIZE_MAX on a malformed stream. */
static inline size_t lz_expand(const uint8_t* in, size_t bytes, uint8_t* out, size_t room) {
    size_t at = 0, made = 0;
    while (at < bytes) {
        const size_t control = in[at++];
        if (control < 128) {
            const size_t run = control + 1;
            if (at + run > bytes || made + run > room) return SIZE_MAX;
            memcpy(out + made, in + at, run);
            at += run;
            made += run;
        } else {
            if (at + 2 > bytes) return SIZE_MAX;
            const size_t length = control - 128 + LZ_MIN_MATCH;
            const size_t distance = in[at] | (size_t)in[at + 1] << 8;
            at += 2;
            if (distance == 0 || distance > made || made + length > room) return SIZE_MAX;
            for (size_t i = 0; i < length; ++i, ++made) out[made] = out[made - distance];
        }
    }
    return made;
}

#endif
