// Instructions by block of the instrumented program. AUTOFINITY_CAPTURE_BLOCKS names the table,
// which autofinity/capture/blocks.py makes.
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/failure.h"
#include "capture/state/thread.h"
#include "capture/threads/instructions.h"

// counts[return address of __sanitizer_cov_trace_pc - low]
static struct {
    uintptr_t low;
    uint64_t blocks;
    const uint16_t* counts;
} table;

AF_API void __sanitizer_cov_trace_pc(void) {
    af_thread* t = af_self;
    const uintptr_t at = (uintptr_t)__builtin_return_address(0) - table.low;
    if (AF_LIKELY(t != NULL && at < table.blocks)) t->now += table.counts[at];
}

static int main_base(struct dl_phdr_info* info, size_t size, void* result) {
    (void)size;
    *(uintptr_t*)result = info->dlpi_addr;
    return 1;  // the first is the program itself
}

// The table: u64 magic, u64 lowest address, u64 entries, then one u16 per address from there.
static bool load_blocks(const char* path) {
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        af_fail("cannot open the block table", path, errno);
        return false;
    }
    const off_t size = lseek((int)fd, 0, SEEK_END);
    const uint64_t* file =
        size < 24 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
    syscall(SYS_close, fd);
    if (file == MAP_FAILED || file[0] != 0x314b434f4c424641ull ||
        file[2] != ((uint64_t)size - 24) / 2) {
        af_fail("damaged block table", path, EINVAL);
        return false;
    }
    uintptr_t base = 0;
    dl_iterate_phdr(main_base, &base);
    table.low = base + file[1];
    table.blocks = file[2];
    table.counts = (const uint16_t*)(file + 3);
    return true;
}

bool af_count_instructions(void) {
    const char* path = getenv("AUTOFINITY_CAPTURE_BLOCKS");
    // Instrumented assembly brings its counts along (interpose/blocks.c).
    if (path != NULL && strcmp(path, "code") == 0) return true;
    return path != NULL && *path != 0 && load_blocks(path);
}

void af_count_for_thread(void) {}
