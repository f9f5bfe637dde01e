// SPDX-License-Identifier: GPL-2.0-or-later
//
// A plugin for QEMU's user-mode emulation: accesses and instructions of an unmodified binary go
// into the thread records that our runtime keeps inside the program (capture/handshake.h).
//
//   start ─► system call ATTACH ─► forget all translations, instrument from here on
//   block begins ─► instructions + n        access ─► one more of an open line, or a new slot
//
// Nothing is recorded while the thread's `af_self` is NULL: before it is attached and in library
// code that the runtime has called, such as the inside of a barrier.
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../capture/handshake.h"
#include "qemu_api.h"
#include "spinning.h"

enum { VCPUS = 1 << 16 };

af_common* af_shared;

// What is remembered of a vCPU; only its own host thread looks at it.
static struct vcpu {
    _Alignas(64) af_thread** self;
    uint64_t repeating;  // address of the string instruction that ended the last block, or 0
    // The last access, to tell the parts of a vector access:
    uintptr_t part;  // its instruction, or 0
    uint64_t end;
    bool store;
    spinning spin;
} vcpus[VCPUS];

static uintptr_t runtime_text, runtime_end;

// -------------------------------------------------------------------------------- while it runs

typedef struct {
    uint32_t instructions;
    bool repeats;  // the last one is a string instruction, which is its own block from then on
    uint64_t first, last;  // addresses of instructions
} block_facts;

static af_thread* recording(unsigned vcpu) {
    if (vcpu >= VCPUS || vcpus[vcpu].self == NULL) return NULL;
    af_thread* t = *vcpus[vcpu].self;
    return t != NULL && !t->busy ? t : NULL;
}

static void on_block(unsigned vcpu, void* data) {
    const block_facts* block = data;
    af_thread* t = recording(vcpu);
    if (t == NULL) return;
    struct vcpu* c = &vcpus[vcpu];
    // QEMU goes once through a block for every round of a repeated string instruction.
    t->now += block->instructions - (c->repeating == block->first);
    c->repeating = block->repeats ? block->last : 0;
    c->part = 0;
}

// `data` of an access: instructions of the block after this one, and a bit so that it is never 0.
enum { NOT_ZERO = 1u << 30, AFTER = 0xffff };

// What QEMU's information on an access says, kept: to ask QEMU takes two calls.
enum { KINDS_BITS = 6, KNOWN = 1 << 16, STORE = 1 << 8, SHIFT = 0xff };
static _Atomic uint64_t kinds[1 << KINDS_BITS];  // the information above, what it says below

static inline _Atomic uint64_t* kind_at(qemu_memory_info info) {
    return &kinds[info * 0x9e3779b1u >> (32 - KINDS_BITS)];
}

// 0: not known yet.
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

static inline bool is_next_part(const struct vcpu* c, uint64_t address, bool store,
                                uintptr_t instruction) {
    return c->part == instruction && c->end == address && c->store == store;
}

static inline void keep_part(struct vcpu* c, uint64_t end, bool store, uintptr_t instruction) {
    c->part = instruction;
    c->end = end;
    c->store = store;
}

// An access that is not as nearly all are.
static __attribute__((noinline)) void access_apart(struct vcpu* c, af_thread* t, uint64_t address,
                                                   uint64_t kind, uintptr_t instruction) {
    const bool store = (kind & STORE) != 0;
    const unsigned size = 1u << (kind & SHIFT);
    const uintptr_t after = instruction & AFTER;
    t->now -= after;
    if (is_next_part(c, address, store, instruction)) {
        if ((address & 63) == 0) af_line(t, address, !store, store);
    } else if (!spinning_before(&c->spin, t, address, size, !store)) {
        af_access(t, address, size, store);
        spinning_after(&c->spin, t, address, size, !store, store);
        if (size == 8 && !store) af_loaded_from(t, address);
    }
    keep_part(c, address + size, store, instruction);
    t->now += after;
}

// The rest of an access that is recorded already, where there is more to do than usual.
static __attribute__((noinline)) void recorded_apart(struct vcpu* c, af_thread* t, uint64_t address,
                                                     unsigned size, uintptr_t after) {
    t->now -= after;
    if (t->budget < 0) af_look_around(t);
    spinning_after(&c->spin, t, address, size, !c->store, c->store);
    t->now += after;
}

// Calls come last, if at all: no stack is needed for them then.
static inline void access_quick(struct vcpu* c, af_thread* t, uint64_t address, uint64_t kind,
                                uintptr_t instruction, unsigned size, bool store) {
    const uintptr_t after = instruction & AFTER;
    const bool next_part = is_next_part(c, address, store, instruction);
    if (next_part && (address & 63) != 0) {  // of a line that the part before it is recorded in
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
    keep_part(c, address + size, store, instruction);
    if (AF_UNLIKELY(--t->budget < 0 || (store && spinning_is_watched(address))))
        recorded_apart(c, t, address, size, after);
    else if (!store)
        spinning_looked_elsewhere(&c->spin, t, address);
}

#define QUICK(name, size, store)                                                               \
    static __attribute__((noinline)) void name(struct vcpu* c, af_thread* t, uint64_t address, \
                                               uint64_t kind, uintptr_t instruction) {         \
        access_quick(c, t, address, kind, instruction, size, store);                           \
    }
QUICK(load8, 8, false)
QUICK(load, 1u << (kind & SHIFT), false)
QUICK(store, 1u << (kind & SHIFT), true)

static __attribute__((noinline)) void access_first(struct vcpu* c, af_thread* t, uint64_t address,
                                                   qemu_memory_info info, uintptr_t instruction) {
    access_apart(c, t, address, kind_of(info), instruction);
}

static void on_access(unsigned vcpu, qemu_memory_info info, uint64_t address, void* data) {
    af_thread* const t = recording(vcpu);
    if (t == NULL) return;
    struct vcpu* const c = &vcpus[vcpu];
    const uint64_t kind = known_kind(info);
    if (AF_UNLIKELY(kind == 0))
        access_first(c, t, address, info, (uintptr_t)data);
    else if ((kind & (STORE | SHIFT)) == 3)
        load8(c, t, address, kind, (uintptr_t)data);
    else if (kind & STORE)
        store(c, t, address, kind, (uintptr_t)data);
    else
        load(c, t, address, kind, (uintptr_t)data);
}

// A locked instruction: its load and its store come one by one, or as one store.
static void on_locked(unsigned vcpu, qemu_memory_info info, uint64_t address, void* data) {
    af_thread* t = recording(vcpu);
    const uint64_t kind = kind_of(info);
    if (t == NULL || !(kind & STORE)) return;
    struct vcpu* c = &vcpus[vcpu];
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

// The runtime's own accesses are not the program's.
static void on_own_access(unsigned vcpu, qemu_memory_info info, uint64_t address, void* data) {
    (void)vcpu, (void)info, (void)address, (void)data;
}

// ---------------------------------------------------------------------- while it is translated

static bool is_prefix(uint8_t byte) {
    return byte == 0x66 || byte == 0x67 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e ||
           byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65;
}

// x86: whether the instruction is locked (by its prefix, or as xchg with memory always is), and
// whether it is a string instruction that repeats.
static void classify(const uint8_t* byte, size_t size, bool* locked, bool* repeats) {
    bool repeat = false;
    *locked = *repeats = false;
    size_t at = 0;
    for (; at < size && (is_prefix(byte[at]) || byte[at] == 0xf0); at++) {
        *locked |= byte[at] == 0xf0;
        repeat |= byte[at] == 0xf2 || byte[at] == 0xf3;
    }
    if (at < size && (byte[at] & 0xf0) == 0x40) at++;  // REX
    if (at >= size) return;
    const uint8_t code = byte[at];
    if ((code == 0x86 || code == 0x87) && at + 1 < size) *locked |= byte[at + 1] < 0xc0;
    *repeats = repeat && ((code >= 0xa4 && code <= 0xa7) || (code >= 0xaa && code <= 0xaf) ||
                          (code >= 0x6c && code <= 0x6f));
}

// No instruction may be without a callback of its own. Up to 7.2, QEMU tells what its helpers
// access (locked instructions are helpers) to the callbacks of the last instruction that had any: a
// return or an indirect jump ends its block before it takes its own back. Accesses of the runtime
// were recorded so, and QEMU ended itself ("plugins/core.c: code should not be reached") where it
// had freed those callbacks meanwhile, as it does when the first thread is made.
static void leave_alone(qemu_block* block) {
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++)
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_own_access,
                                         QEMU_CB_NO_REGISTERS, QEMU_LOADS_AND_STORES, NULL);
}

static void on_translation(qemu_plugin_id id, qemu_block* block) {
    (void)id;
    const uint64_t first = qemu_plugin_tb_vaddr(block);
    if (first >= runtime_text && first < runtime_end) {
        leave_alone(block);
        return;
    }
    const size_t n = qemu_plugin_tb_n_insns(block);
    block_facts* facts = calloc(1, sizeof *facts);  // lives as long as the translation may
    if (facts == NULL) return;
    facts->instructions = (uint32_t)n;
    facts->first = first;
    for (size_t i = 0; i < n; i++) {
        qemu_instruction* instruction = qemu_plugin_tb_get_insn(block, i);
        bool locked, repeats;
        classify(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction), &locked,
                 &repeats);
        facts->repeats = repeats;
        facts->last = qemu_plugin_insn_vaddr(instruction);
        const size_t after = n - 1 - i < AFTER ? n - 1 - i : AFTER;
        void* const data = (void*)(after | NOT_ZERO);
        qemu_plugin_register_vcpu_mem_cb(instruction, locked ? on_locked : on_access,
                                         QEMU_CB_NO_REGISTERS, QEMU_LOADS_AND_STORES, data);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_CB_NO_REGISTERS, facts);
}

// ------------------------------------------------------------------------------- the beginning

static void on_vcpu(qemu_plugin_id id, unsigned vcpu) {
    (void)id;
    if (vcpu < VCPUS) memset(&vcpus[vcpu], 0, sizeof vcpus[vcpu]);
}

// Whether the guest's address is one of ours and what lies there is what we expect.
static bool plausible(uint64_t address) {
    af_handshake copy;
    const struct iovec here = {&copy, sizeof copy}, there = {(void*)address, sizeof copy};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof copy &&
           copy.magic == AF_HANDSHAKE_MAGIC && copy.thread_bytes == sizeof(af_thread) &&
           copy.common_bytes == sizeof(af_common);
}

static void listen_to(qemu_plugin_id id);

static void on_syscall(qemu_plugin_id id, unsigned vcpu, int64_t number, uint64_t what,
                       uint64_t address, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                       uint64_t h) {
    (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != AF_PLUGIN_CALL) return;
    if (what == AF_PLUGIN_THREAD && af_shared != NULL && vcpu < VCPUS) {
        vcpus[vcpu].self = (af_thread**)address;
    } else if (what == AF_PLUGIN_ATTACH && af_shared == NULL && plausible(address)) {
        af_handshake* handshake = (af_handshake*)address;
        af_shared = handshake->common;
        runtime_text = handshake->text;
        runtime_end = handshake->text_end;
        handshake->accepted = 1;
        // What was translated before must be translated again, with our calls in it.
        qemu_plugin_reset(id, listen_to);
    }
}

static void listen_to(qemu_plugin_id id) {
    qemu_plugin_register_vcpu_init_cb(id, on_vcpu);
    qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
    if (af_shared != NULL) qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
}

AF_API int qemu_plugin_version = QEMU_API_VERSION;

AF_API int qemu_plugin_install(qemu_plugin_id id, const qemu_info* info, int argc, char** argv);

AF_API int qemu_plugin_install(qemu_plugin_id id, const qemu_info* info, int argc, char** argv) {
    (void)info, (void)argc, (void)argv;
    listen_to(id);
    return 0;
}
