// SPDX-License-Identifier: GPL-2.0-or-later
//
// A plugin for QEMU's user-mode emulation: accesses and instructions of an unmodified binary go
// into the thread records that our runtime keeps inside the program (capture/state/handshake.h).
//
//   start ─► system call ATTACH ─► forget all translations, instrument from here on
//   block begins ─► instructions + n        access ─► one more of an open line, or a new slot
//
// Nothing is recorded while the thread's `af_self` is NULL: before it is attached and in library
// code that the runtime has called, such as the inside of a barrier.
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "capture/state/handshake.h"
#include "qemu_plugin/accesses.h"
#include "qemu_plugin/instruction.h"
#include "qemu_plugin/qemu_api.h"
#include "qemu_plugin/vcpu.h"

af_common* af_shared;
static uintptr_t runtime_text, runtime_end;

// -------------------------------------------------------------------------------- while it runs

typedef struct {
    uint32_t instructions;
    bool repeats;  // the last one is a string instruction, which is its own block from then on
    uint64_t first, last;  // addresses of instructions
} block_facts;

static void on_block(unsigned number, void* data) {
    (void)number;
    const block_facts* block = data;
    vcpu* const c = &vcpu_mine;
    af_thread* t = vcpu_recording(c);
    if (t == NULL) return;
    // QEMU goes once through a block for every round of a repeated string instruction.
    t->now += block->instructions - (c->repeating == block->first);
    c->repeating = block->repeats ? block->last : 0;
    c->part = 0;
}

// The runtime's own accesses are not the program's.
static void on_own_access(unsigned number, qemu_memory_info info, uint64_t address, void* data) {
    (void)number, (void)info, (void)address, (void)data;
}

// ---------------------------------------------------------------------- while it is translated

// Every instruction needs a callback of its own. Up to 7.2, QEMU reports accesses of its helpers
// (locked instructions are helpers) to the callbacks of the last instruction that had any: a return
// or an indirect jump ends its block before it takes its own back. Accesses of the runtime were
// recorded so, and QEMU ended itself ("plugins/core.c: code should not be reached") where it had
// freed those callbacks meanwhile, as it does when the first thread is made.
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
        const instruction_facts what =
            classify(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
        facts->repeats = what.repeats;
        facts->last = qemu_plugin_insn_vaddr(instruction);
        accesses_of(instruction, &what, n - 1 - i);
    }
    qemu_plugin_register_vcpu_tb_exec_cb(block, on_block, QEMU_CB_NO_REGISTERS, facts);
}

// ------------------------------------------------------------------------------- the beginning

// Whether the guest's address is one of ours and holds the expected content.
static bool plausible(uint64_t address) {
    af_handshake copy;
    const struct iovec here = {&copy, sizeof copy}, there = {(void*)address, sizeof copy};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)sizeof copy &&
           copy.magic == AF_HANDSHAKE_MAGIC && copy.thread_bytes == sizeof(af_thread) &&
           copy.common_bytes == sizeof(af_common);
}

static void listen_to(qemu_plugin_id id);

static void on_syscall(qemu_plugin_id id, unsigned vcpu_number, int64_t number, uint64_t what,
                       uint64_t address, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
                       uint64_t h) {
    (void)vcpu_number, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
    if (number != AF_PLUGIN_CALL) return;
    if (what == AF_PLUGIN_THREAD && af_shared != NULL) {
        vcpu_mine.self = (af_thread**)address;
    } else if (what == AF_PLUGIN_ATTACH && af_shared == NULL && plausible(address)) {
        af_handshake* handshake = (af_handshake*)address;
        af_shared = handshake->common;
        runtime_text = handshake->text;
        runtime_end = handshake->text_end;
        handshake->accepted = 1;
        // Earlier translations must be made again, with our calls in them.
        qemu_plugin_reset(id, listen_to);
    }
}

static void listen_to(qemu_plugin_id id) {
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
