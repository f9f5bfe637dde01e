// The runtime's side of the handshake with QEMU's plugin (state/handshake.h).
#include <errno.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/failure.h"
#include "capture/state/handshake.h"
#include "capture/state/thread.h"
#include "capture/threads/instructions.h"

// Finds the executable segment of the library that contains `data`'s handshake.
static int find_text(struct dl_phdr_info* info, size_t size, void* data) {
    (void)size;
    af_handshake* handshake = data;
    const uintptr_t here = (uintptr_t)&find_text;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
        const uintptr_t from = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD || here < from || here >= from + segment->p_memsz) continue;
        handshake->text = from;
        handshake->text_end = from + segment->p_memsz;
        return 1;
    }
    return 0;
}

bool af_count_instructions(void) {
    static af_handshake handshake = {.magic = AF_HANDSHAKE_MAGIC,
                                     .thread_bytes = sizeof(af_thread),
                                     .common_bytes = sizeof(af_common)};
    handshake.common = af_shared;
    dl_iterate_phdr(find_text, &handshake);
    syscall(AF_PLUGIN_CALL, AF_PLUGIN_ATTACH, &handshake);
    const bool counted = atomic_load(&handshake.accepted) != 0;
    if (!counted) af_fail("no answer from the plugin in QEMU:", "is this its runtime?", ENOSYS);
    return counted;
}

void af_count_for_thread(void) { syscall(AF_PLUGIN_CALL, AF_PLUGIN_THREAD, &af_self); }
