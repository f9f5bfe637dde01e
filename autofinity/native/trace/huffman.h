// One column of bytes, packed with a Huffman code of its own.
//
//   varint n | 0 | n bytes as they are
//   varint n | 1 | 128 bytes: code lengths of 256 byte values, 4 bits each | varint b | b bytes
//
// Codes are canonical, at most AF_CODE_BITS long, written from the low bit of each byte up. For n =
// 0 there is only the varint. The shorter form is used.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define AF_CODE_BITS 12

static inline uint8_t* af_put_varint(uint8_t* out, uint64_t value) {
    while (value >= 0x80) {
        *out++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *out++ = (uint8_t)value;
    return out;
}

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

// Memory for packing a column.
typedef struct af_packing {
    uint64_t symbol[256];
    uint32_t count[256], part[4][256], flat[256], weight[512];
    uint16_t parent[512], order[256], code[256];
    uint8_t length[256], depth[512];
} af_packing;

// Length of the code of each value, 0 for those that do not occur; at most AF_CODE_BITS. Counts
// that would need longer codes are flattened until they do not.
static inline void af_code_lengths(af_packing* work) {
    const uint32_t* const count = work->count;
    uint8_t *const length = work->length, *const depth = work->depth;
    uint32_t *const weight = work->weight, *const flat = work->flat;
    uint16_t *const parent = work->parent, *const order = work->order;
    uint32_t used = 0;
    for (int i = 0; i < 256; i++) {
        flat[i] = count[i];
        if (count[i] != 0) order[used++] = (uint16_t)i;
    }
    memset(length, 0, 256);
    if (used == 1) length[order[0]] = 1;
    for (int longest = AF_CODE_BITS + 1; used > 1 && longest > AF_CODE_BITS;) {
        for (uint32_t i = 1; i < used; i++) {  // by weight; nearly sorted the second time
            const uint16_t one = order[i];
            uint32_t at = i;
            for (; at > 0 && flat[order[at - 1]] > flat[one]; at--) order[at] = order[at - 1];
            order[at] = one;
        }
        // Leaves come in order of weight, and so do the nodes made of them: two queues.
        for (uint32_t i = 0; i < used; i++) weight[i] = flat[order[i]];
        uint32_t leaf = 0, node = used, made = used;
        for (; made < 2 * used - 1; made++) {
            weight[made] = 0;
            for (int k = 0; k < 2; k++) {
                const int take_leaf = leaf < used && (node == made || weight[leaf] <= weight[node]);
                const uint32_t taken = take_leaf ? leaf++ : node++;
                weight[made] += weight[taken];
                parent[taken] = (uint16_t)made;
            }
        }
        depth[made - 1] = 0;
        longest = 0;
        for (uint32_t i = made - 1; i-- > 0;) {
            depth[i] = (uint8_t)(depth[parent[i]] + 1);
            if (i < used) {
                length[order[i]] = depth[i];
                if (depth[i] > longest) longest = depth[i];
            }
        }
        for (uint32_t i = 0; i < used; i++) flat[order[i]] = flat[order[i]] / 2 + 1;
    }
}

// Canonical codes, low bit first. Returns 0 unless the lengths fill the space of codes exactly (a
// single value has the code 0 of one bit).
static inline int af_codes(const uint8_t length[256], uint16_t code[256]) {
    uint32_t next[AF_CODE_BITS + 2] = {0}, many[AF_CODE_BITS + 1] = {0}, used = 0;
    for (int i = 0; i < 256; i++) {
        if (length[i] > AF_CODE_BITS) return 0;
        many[length[i]] += length[i] != 0;
        used += length[i] != 0;
    }
    for (int bits = 1; bits <= AF_CODE_BITS; bits++)
        next[bits + 1] = (next[bits] + many[bits]) << 1;
    const uint32_t filled = next[AF_CODE_BITS + 1] >> 1;
    if (filled != 1u << AF_CODE_BITS && !(used == 1 && many[1] == 1)) return 0;
    for (int i = 0; i < 256; i++) {
        uint32_t straight = length[i] != 0 ? next[length[i]]++ : 0, turned = 0;
        for (int bit = 0; bit < length[i]; bit++, straight >>= 1)
            turned = turned << 1 | (straight & 1);
        code[i] = (uint16_t)turned;
    }
    return 1;
}

// Writes the column at `out`, where there is room for n + 16 bytes, and returns the end.
static inline uint8_t* af_pack_column(uint8_t* out, const uint8_t* from, size_t n,
                                      af_packing* work) {
    out = af_put_varint(out, n);
    if (n == 0) return out;
    uint32_t* const count = work->count;
    uint32_t (*const part)[256] = work->part;  // four, or equal neighbours wait for each other
    uint8_t* const length = work->length;
    uint16_t* const code = work->code;
    uint64_t* const symbol = work->symbol;
    memset(part, 0, sizeof work->part);
    size_t read = 0;
    for (; read + 4 <= n; read += 4)
        for (int k = 0; k < 4; k++) part[k][from[read + k]]++;
    for (; read < n; read++) part[0][from[read]]++;
    for (int i = 0; i < 256; i++) count[i] = part[0][i] + part[1][i] + part[2][i] + part[3][i];
    af_code_lengths(work);
    uint64_t bits = 0;
    for (int i = 0; i < 256; i++) bits += (uint64_t)count[i] * length[i];
    const uint64_t bytes = (bits + 7) / 8;
    if (bytes + 128 + 4 >= n || !af_codes(length, code)) {
        *out++ = 0;
        memcpy(out, from, n);
        return out + n;
    }
    *out++ = 1;
    for (int i = 0; i < 256; i += 2) *out++ = (uint8_t)(length[i] | length[i + 1] << 4);
    out = af_put_varint(out, bytes);
    // The code in the highest bits, the length in the lowest.
    for (int i = 0; i < 256; i++)
        symbol[i] = length[i] == 0 ? 0 : (uint64_t)code[i] << (64 - length[i]) | length[i];
    // Bits come in at the top. Below the valid bits are lengths on their way out: where four codes
    // follow the rest of a byte, nine bits are not part of them.
    uint64_t pending = 0, have = 0;
    size_t at = 0;
    for (; at + 4 <= n; at += 4) {
        for (int k = 0; k < 4; k++) {
            const uint64_t one = symbol[from[at + k]];
            pending = pending >> (one & 63) | one;
            have += one;
        }
        have &= 63;
        const uint64_t word = pending >> (64 - have);
        __builtin_memcpy(out, &word, 8);
        out += have >> 3;
        have &= 7;
    }
    for (; at < n; at++) {
        const uint64_t one = symbol[from[at]];
        pending = pending >> (one & 63) | one;
        have += one;
    }
    have &= 63;
    uint64_t rest = have > 0 ? pending >> (64 - have) : 0;
    for (; have > 0; have = have > 8 ? have - 8 : 0, rest >>= 8) *out++ = (uint8_t)rest;
    return out;
}

// Unpacks a column of at most `room` bytes to `to`. Returns the end of the bytes read and sets
// `*n`, or NULL when the input is wrong.
static inline const uint8_t* af_unpack_column(const uint8_t* p, const uint8_t* end, uint8_t* to,
                                              size_t room, size_t* n) {
    uint64_t size, bytes;
    if (!(p = af_get_varint(p, end, &size)) || size > room) return NULL;
    *n = (size_t)size;
    if (size == 0) return p;
    if (p == end) return NULL;
    const uint8_t form = *p++;
    if (form == 0) {
        if ((size_t)(end - p) < size) return NULL;
        memcpy(to, p, (size_t)size);
        return p + size;
    }
    if (form != 1 || end - p < 128) return NULL;
    uint8_t length[256];
    uint16_t code[256];
    for (int i = 0; i < 256; i += 2, p++) {
        length[i] = *p & 15;
        length[i + 1] = *p >> 4;
    }
    if (!af_codes(length, code) || !(p = af_get_varint(p, end, &bytes)) ||
        bytes > (size_t)(end - p))
        return NULL;
    // By the next AF_CODE_BITS bits: value, and length above it; 0 where no code begins with these
    // bits.
    uint16_t table[1u << AF_CODE_BITS];
    memset(table, 0, sizeof table);
    for (uint32_t i = 0; i < 256; i++)
        if (length[i] != 0)
            for (uint32_t k = code[i]; k < 1u << AF_CODE_BITS; k += 1u << length[i])
                table[k] = (uint16_t)(i | (uint32_t)length[i] << 8);
    const uint8_t* const last = p + bytes;
    uint64_t pending = 0;
    unsigned have = 0;
    for (size_t i = 0; i < size; i++) {
        while (have <= 56 && p != last) {
            pending |= (uint64_t)*p++ << have;
            have += 8;
        }
        const uint16_t entry = table[pending & ((1u << AF_CODE_BITS) - 1)];
        const unsigned used = entry >> 8;
        if (used == 0 || used > have) return NULL;
        to[i] = (uint8_t)entry;
        pending >>= used;
        have -= used;
    }
    return p == last && have < 8 && pending == 0 ? p : NULL;
}
