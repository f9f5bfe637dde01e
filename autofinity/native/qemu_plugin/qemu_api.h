// SPDX-License-Identifier: GPL-2.0-or-later
//
// The part of QEMU's plugin interface that we use, written from its documentation: names, types and
// numbers only. Version 1 of the interface is that of QEMU 6 to 8.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QEMU_API_VERSION = 1 };
enum { QEMU_CB_NO_REGISTERS = 0 };
enum { QEMU_LOADS_AND_STORES = 3 };

typedef uint64_t qemu_plugin_id;
typedef uint32_t qemu_memory_info;
typedef struct qemu_info qemu_info;
typedef struct qemu_block qemu_block;
typedef struct qemu_instruction qemu_instruction;

typedef void qemu_simple_callback(qemu_plugin_id id);
typedef void qemu_vcpu_callback(qemu_plugin_id id, unsigned vcpu);
typedef void qemu_translate_callback(qemu_plugin_id id, qemu_block* block);
typedef void qemu_execute_callback(unsigned vcpu, void* data);
typedef void qemu_memory_callback(unsigned vcpu, qemu_memory_info info, uint64_t address,
                                  void* data);
typedef void qemu_syscall_callback(qemu_plugin_id id, unsigned vcpu, int64_t number, uint64_t a,
                                   uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                                   uint64_t g, uint64_t h);

void qemu_plugin_reset(qemu_plugin_id id, qemu_simple_callback* then);
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id id, qemu_vcpu_callback* call);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id id, qemu_translate_callback* call);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id id, qemu_syscall_callback* call);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_block* block, qemu_execute_callback* call, int flags,
                                          void* data);
void qemu_plugin_register_vcpu_mem_cb(qemu_instruction* instruction, qemu_memory_callback* call,
                                      int flags, int kinds, void* data);

size_t qemu_plugin_tb_n_insns(const qemu_block* block);
uint64_t qemu_plugin_tb_vaddr(const qemu_block* block);
qemu_instruction* qemu_plugin_tb_get_insn(const qemu_block* block, size_t index);
const void* qemu_plugin_insn_data(const qemu_instruction* instruction);
size_t qemu_plugin_insn_size(const qemu_instruction* instruction);
uint64_t qemu_plugin_insn_vaddr(const qemu_instruction* instruction);
unsigned qemu_plugin_mem_size_shift(qemu_memory_info info);
bool qemu_plugin_mem_is_store(qemu_memory_info info);
