// The system call, of a number that no kernel has, by which the runtime inside an unmodified binary
// that QEMU runs makes itself known to our plugin in QEMU. Guest and host are the same architecture
// and QEMU maps the guest's memory at its own addresses, so both sides read and write the same
// thread records.
//
//   binary + libautofinity-preload.so ── who waits for whom ──►  af_thread  ◄── accesses, ── plugin
//   (guest: interposed pthread_*, GOMP_*)                        records        instructions
#pragma once

#include "capture/state/common.h"

enum { AF_PLUGIN_CALL = 0x41460 };                    // the number of the system call
enum { AF_PLUGIN_ATTACH = 1, AF_PLUGIN_THREAD = 2 };  // its first argument

#define AF_HANDSHAKE_MAGIC 0x3148534b41484641ull

// Second argument of AF_PLUGIN_ATTACH. The second argument of AF_PLUGIN_THREAD is the address of
// `af_self`.
typedef struct af_handshake {
    uint64_t magic;
    uint32_t thread_bytes, common_bytes;  // must be equal on both sides
    af_common* common;
    uintptr_t text, text_end;   // code of the runtime; its own accesses are not recorded
    _Atomic uint32_t accepted;  // set by the plugin
} af_handshake;
