// SPDX-License-Identifier: GPL-2.0-or-later
#include "qemu_plugin/accesses.h"

#include "capture/record/accesses.h"
#include "qemu_plugin/vcpu.h"

// `data` of an access: instructions of the block after this one, the size where it is known when
// the instruction is translated, and a bit so that it is never 0.
enum { NOT_ZERO = 1u << 30, AFTER = 0xffff, SHIFT_AT = 16 };

// Facts of QEMU's information on an access, kept, because asking QEMU takes two calls.
enum { KINDS_BITS = 6, KNOWN = 1 << 16, STORE = 1 << 8, SHIFT = 0xff };
static _Atomic uint64_t kinds[1 << KINDS_BITS];  // the information above, what it says below

static inline _Atomic uint64_t* kind_at(qemu_memory_info info) {
    return &kinds[info * 0x9e3779b1u >> (32 - KINDS_BITS)];
}

// Facts of an access; 0: not known yet.
static inline uint64_t known_kind(qemu_memory_info info) {
    const uint64_t kind = atomic_load_explicit(kind_at(info), memory_order_relaxed);
    return AF_LIKELY(kind >> 32 == info) ? kind : 0;
}

static uint64_t kind_of(qemu_memory_info info) {
    uint64_t kind = known_kind(info);
    if (kind != 0) return kind;
    kind = (uint64_t)info << 32 | KNOWN | (qemu_plugin_mem_is_store(info) ? STORE : 0) |
           (qemu_plugin_mem_size_shift(info) & SHIFT);
    atomic_store_explicit(kind_at(info), kind, memory_order_relaxed);
    return kind;
}

static inline bool is_next_part(const vcpu* c, uint64_t address, bool store,
                                uintptr_t instruction) {
    return c->part == instruction && c->end == address && c->store == store;
}

static inline void keep_part(vcpu* c, uint64_t end, bool store, uintptr_t instruction) {
    c->part = instruction;
    c->end = end;
    c->store = store;
}

// Records an access of a rare kind.
static __attribute__((noinline)) void access_apart(vcpu* c, af_thread* t, uint64_t address,
                                                   uint64_t kind, uintptr_t instruction) {
    const bool store = (kind & STORE) != 0;
    const unsigned size = 1u << (kind & SHIFT);
    const uintptr_t after = instruction & AFTER;
    t->now -= after;
    if (is_next_part(c, address, store, instruction)) {
        if ((address & 63) == 0) {  // reaches a second line: one access to each
            af_line(t, address, !store, store);
            t->budget--;
        }
    } else if (!spinning_before(&c->spin, t, address, size, !store)) {
        af_access(t, address, size, store);
        spinning_after(&c->spin, t, address, size, !store, store);
        if (size == 8 && !store) af_loaded_from(t, address);
    }
    keep_part(c, address + size, store, instruction);
    t->now += after;
}

// Finishes an access that is already recorded, where there is more work than usual.
static __attribute__((noinline)) void recorded_apart(vcpu* c, af_thread* t, uint64_t address,
                                                     unsigned size, uintptr_t after, bool store) {
    t->now -= after;
    if (t->budget < 0) af_look_around(t);
    spinning_after(&c->spin, t, address, size, !store, store);
    t->now += after;
}

// Calls come last, if at all, so that they need no stack. `parts`: the access may be one part of an
// instruction's.
static inline __attribute__((always_inline)) void access_quick(vcpu* c, af_thread* t,
                                                               uint64_t address, uint64_t kind,
                                                               uintptr_t instruction, bool store,
                                                               bool parts) {
    const uintptr_t after = instruction & AFTER;
    const unsigned size = 1u << (kind & SHIFT);
    const bool next_part = parts && is_next_part(c, address, store, instruction);
    if (next_part && (address & 63) != 0) {  // of the line in which the part before it is recorded
        c->end = address + size;
        return;
    }
    const bool looks_again = !store && address == c->spin.address;
    if (AF_UNLIKELY(next_part || looks_again || c->spin.kept != 0) ||
        AF_UNLIKELY(!af_access_quick(t, t->now - after, address, size, true, store))) {
        access_apart(c, t, address, kind, instruction);
        return;
    }
    if (size == 8 && !store) af_loaded_from(t, address);
    if (parts) keep_part(c, address + size, store, instruction);
    if (AF_UNLIKELY(--t->budget < 0 || (store && spinning_is_watched(address))))
        recorded_apart(c, t, address, size, after, store);
    else if (!store)
        spinning_looked_elsewhere(&c->spin, t, address);
}

// Instructions whose only access is known from their bytes.
#define SCALAR(name, shift, is_store)                                                        \
    static void name(unsigned number, qemu_memory_info info, uint64_t address, void* data) { \
        (void)number, (void)info;                                                            \
        vcpu* const c = &vcpu_mine;                                                          \
        af_thread* const t = vcpu_recording(c);                                              \
        if (AF_UNLIKELY(t == NULL)) return;                                                  \
        const uint64_t kind = KNOWN | (is_store ? STORE : 0) | (uint64_t)(shift);            \
        access_quick(c, t, address, kind, (uintptr_t)data, is_store, false);                 \
    }
SCALAR(on_load8, 3, false)
SCALAR(on_load, (uintptr_t)data >> SHIFT_AT & 3, false)
SCALAR(on_store, (uintptr_t)data >> SHIFT_AT & 3, true)

static __attribute__((noinline)) void load(vcpu* c, af_thread* t, uint64_t address, uint64_t kind,
                                           uintptr_t instruction) {
    access_quick(c, t, address, kind, instruction, false, true);
}

static __attribute__((noinline)) void store(vcpu* c, af_thread* t, uint64_t address, uint64_t kind,
                                            uintptr_t instruction) {
    access_quick(c, t, address, kind, instruction, true, true);
}

static __attribute__((noinline)) void access_first(vcpu* c, af_thread* t, uint64_t address,
                                                   qemu_memory_info info, uintptr_t instruction) {
    access_apart(c, t, address, kind_of(info), instruction);
}

// All other instructions.
static void on_access(unsigned number, qemu_memory_info info, uint64_t address, void* data) {
    (void)number;
    vcpu* const c = &vcpu_mine;
    af_thread* const t = vcpu_recording(c);
    if (t == NULL) return;
    const uint64_t kind = known_kind(info);
    if (AF_UNLIKELY(kind == 0))
        access_first(c, t, address, info, (uintptr_t)data);
    else if (kind & STORE)
        store(c, t, address, kind, (uintptr_t)data);
    else
        load(c, t, address, kind, (uintptr_t)data);
}

// Sixteen bytes on a multiple of sixteen. QEMU makes two accesses of eight bytes, as far as we
// know: the second is to the line of the first.
#define VECTOR(name, is_store)                                                               \
    static void name(unsigned number, qemu_memory_info info, uint64_t address, void* data) { \
        if ((address & 8) != 0) return;                                                      \
        vcpu* const c = &vcpu_mine;                                                          \
        af_thread* const t = vcpu_recording(c);                                              \
        if (AF_UNLIKELY(t == NULL)) return;                                                  \
        const uint64_t half = KNOWN | (is_store ? STORE : 0) | 3;                            \
        if (AF_LIKELY((known_kind(info) & (KNOWN | STORE | SHIFT)) == half))                 \
            access_quick(c, t, address, half, (uintptr_t)data, is_store, false);             \
        else                                                                                 \
            on_access(number, info, address, data);                                          \
    }
VECTOR(on_load_vector, false)
VECTOR(on_store_vector, true)

// A locked instruction: its load and its store come separately, or as one store.
static void on_locked(unsigned number, qemu_memory_info info, uint64_t address, void* data) {
    (void)number;
    vcpu* const c = &vcpu_mine;
    af_thread* t = vcpu_recording(c);
    const uint64_t kind = kind_of(info);
    if (t == NULL || !(kind & STORE)) return;
    const unsigned size = 1u << (kind & SHIFT);
    const uintptr_t after = (uintptr_t)data & AFTER;
    t->now -= after;
    if (!spinning_before(&c->spin, t, address, size, true)) {
        af_alone(t, (const volatile void*)address, 1, 1);
        spinning_after(&c->spin, t, address, size, true, true);
    }
    t->now += after;
    c->part = 0;
}

// Its access is not recorded: a loop that polls a flag with fences accesses nothing else.
static void on_fence(unsigned number, qemu_memory_info info, uint64_t address, void* data) {
    (void)number, (void)info, (void)address, (void)data;
}

static qemu_memory_callback* callback_for(const instruction_facts* what) {
    switch (what->access) {
        case ACCESS_LOCKED:
            return on_locked;
        case ACCESS_FENCE:
            return on_fence;
        case ACCESS_LOAD:
            return what->size_shift == 3 ? on_load8 : on_load;
        case ACCESS_STORE:
            return on_store;
        case ACCESS_LOAD_VECTOR:
            return on_load_vector;
        case ACCESS_STORE_VECTOR:
            return on_store_vector;
        default:
            return on_access;
    }
}

void accesses_of(qemu_instruction* instruction, const instruction_facts* what, size_t after) {
    if (after > AFTER) after = AFTER;
    void* const data = (void*)(after | (size_t)what->size_shift << SHIFT_AT | NOT_ZERO);
    qemu_plugin_register_vcpu_mem_cb(instruction, callback_for(what), QEMU_CB_NO_REGISTERS,
                                     QEMU_LOADS_AND_STORES, data);
}
