// Instructions by block of the instrumented program. AUTOFINITY_CAPTURE_BLOCKS names the folder of
// the tables, which autofinity/capture/blocks.py makes, one for each program that was built.
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
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

// The table of this program: FOLDER/.blocks/sub%name for FOLDER/sub/name. False where it has none.
static bool find_table(const char* tables, char* path, size_t size) {
    char program[4096];
    const long length =
        syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", program, sizeof program - 1);
    const char* const last = strrchr(tables, '/');
    if (length <= 0 || last == NULL) return false;
    program[length] = 0;
    const size_t folder = (size_t)(last - tables) + 1;
    if (strncmp(program, tables, folder) != 0) return false;
    char* const name = program + folder;
    for (char* c = name; *c != 0; c++)
        if (*c == '/') *c = '%';
    const int written = snprintf(path, size, "%s/%s", tables, name);
    return written > 0 && (size_t)written < size &&
           syscall(SYS_faccessat, AT_FDCWD, path, R_OK) == 0;
}

bool af_count_instructions(void) {
    const char* tables = getenv("AUTOFINITY_CAPTURE_BLOCKS");
    // Instrumented assembly contains its own counts (interpose/blocks.c).
    if (tables != NULL && strcmp(tables, "code") == 0) return true;
    char path[8200];
    return tables != NULL && find_table(tables, path, sizeof path) && load_blocks(path);
}

void af_count_for_thread(void) {}
