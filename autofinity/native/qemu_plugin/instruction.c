// SPDX-License-Identifier: GPL-2.0-or-later
#include "qemu_plugin/instruction.h"

typedef struct {
    bool narrow;     // 0x66
    uint8_t repeat;  // 0xf2, 0xf3 or 0
    bool locked;
    bool wide;  // REX.W
} prefixes;

static bool is_prefix(uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

// Codes of repeated string instructions.
static bool is_string(uint8_t code) {
    return (code >= 0xa4 && code <= 0xa7) || (code >= 0xaa && code <= 0xaf) ||
           (code >= 0x6c && code <= 0x6f);
}

static instruction_facts of_size(instruction_access access, uint8_t size_shift) {
    return (instruction_facts){.access = access, .size_shift = size_shift};
}

static uint8_t operand_shift(const prefixes* p, bool byte_form) {
    return byte_form ? 0 : p->wide ? 3 : p->narrow ? 1 : 2;
}

// Instructions of one byte: moves, and arithmetic with its result in a register or nowhere.
static instruction_facts classify_short(const prefixes* p, uint8_t code) {
    const instruction_facts any = {0};
    const bool byte_form = (code & 1) == 0;
    if (p->repeat != 0) return any;
    if (code == 0x8a || code == 0x8b || code == 0x84 || code == 0x85 || code == 0x38 ||
        code == 0x39 || (code < 0x40 && (code & 7) >= 2 && (code & 7) <= 3))
        return of_size(ACCESS_LOAD, operand_shift(p, byte_form));
    if (code == 0x63) return of_size(ACCESS_LOAD, p->wide || !p->narrow ? 2 : 1);
    if (code == 0x88 || code == 0x89 || code == 0xc6 || code == 0xc7)
        return of_size(ACCESS_STORE, operand_shift(p, byte_form));
    return any;
}

static bool is_vector_arithmetic(uint8_t code) {
    return code == 0x51 || code == 0x58 || code == 0x59 || (code >= 0x5c && code <= 0x5f);
}

// Instructions of two bytes, the first of which is 0x0f.
static instruction_facts classify_long(const prefixes* p, uint8_t code) {
    const instruction_facts any = {0};
    if (p->repeat == 0 && (code == 0xb6 || code == 0xbe)) return of_size(ACCESS_LOAD, 0);
    if (p->repeat == 0 && (code == 0xb7 || code == 0xbf)) return of_size(ACCESS_LOAD, 1);
    if (p->repeat != 0 && !p->narrow) {
        const uint8_t shift = p->repeat == 0xf2 ? 3 : 2;
        if (code == 0x10 || is_vector_arithmetic(code)) return of_size(ACCESS_LOAD, shift);
        if (code == 0x11) return of_size(ACCESS_STORE, shift);
    } else if (p->repeat == 0) {
        if (code == 0x28 || (code == 0x6f && p->narrow) || is_vector_arithmetic(code))
            return of_size(ACCESS_LOAD_VECTOR, 4);
        if (code == 0x29 || (code == 0x7f && p->narrow)) return of_size(ACCESS_STORE_VECTOR, 4);
    }
    return any;
}

// lock or $0, DISPLACEMENT(%rsp), from the code on.
static bool is_fence(const uint8_t* byte, size_t size) {
    if (size < 4 || byte[0] != 0x83 || byte[2] != 0x24) return false;
    const bool short_form = byte[1] == 0x0c && byte[3] == 0;
    return short_form || (byte[1] == 0x4c && size >= 5 && byte[4] == 0);
}

instruction_facts classify(const uint8_t* byte, size_t size) {
    prefixes p = {0};
    size_t at = 0;
    for (; at < size && (is_prefix(byte[at]) || byte[at] == 0xf0); at++) {
        p.locked |= byte[at] == 0xf0;
        p.narrow |= byte[at] == 0x66;
        if (byte[at] == 0xf2 || byte[at] == 0xf3) p.repeat = byte[at];
    }
    if (at < size && (byte[at] & 0xf0) == 0x40) p.wide = (byte[at++] & 8) != 0;
    if (at >= size) return (instruction_facts){0};
    const uint8_t code = byte[at];
    if ((code == 0x86 || code == 0x87) && at + 1 < size) p.locked |= byte[at + 1] < 0xc0;
    instruction_facts facts = {0};
    if (p.locked)
        facts.access = is_fence(byte + at, size - at) ? ACCESS_FENCE : ACCESS_LOCKED;
    else if (code != 0x0f)
        facts = classify_short(&p, code);
    else if (at + 1 < size)
        facts = classify_long(&p, byte[at + 1]);
    facts.repeats = p.repeat != 0 && is_string(code);
    return facts;
}
