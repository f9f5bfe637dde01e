// The program is started again without address randomisation. Where the kernel or a container
// forbids that (Docker does), five areas of a process have other addresses in each run, but each
// area moves as a whole, so the trace is written with the addresses that the areas have without
// randomisation:
//
//   program, then its heap  ..  what is mapped from now on | what is mapped already  ..  stack
//
// Mappings grow down from what the loader has mapped. Some lie on multiples of 64 MiB (the heaps of
// malloc's threads) or of 2 MiB (huge pages), so a gap that nothing uses brings the border, |, to a
// multiple of a gibibyte. (The area of earlier mappings holds the libraries. It is moved as one
// piece, which it is unless the kernel gives a library of 2 MiB an address for huge pages.) The
// depth of the first thread's stack at the begin of main depends on the environment and the
// arguments, so main begins at a fixed stack address (interpose/ground.c).
#include "capture/process/addresses.h"

#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/common.h"

#define MARK "AUTOFINITY_CAPTURE_FIXED"

// Linux's addresses on x86-64 without randomisation.
static const uintptr_t program_at = 0x555555554000, mappings_end = 0x7ffff7fff000;
static const uintptr_t border_at = 0x7fffc0000000;
// Room above it for the arguments and the environment.
static const uintptr_t ground_at = 0x7fffffc00000;
enum { PAGE = 4096, GROUND = 1 << 16, GIBIBYTE = 1 << 30, ABOVE_MAIN = PAGE };

static uintptr_t ground;  // stack address at the begin of main, or 0

// Starts the program again without address randomisation, once.
static void start_again(char** arguments) {
    if (getenv(MARK) != NULL) {
        unsetenv(MARK);
        return;
    }
    const int now = personality(0xffffffff);
    if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
    if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1) return;
    if (setenv(MARK, "1", 1) != 0) return;
    char program[4096];  // its own path, so that it keeps its name in process lists
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = 0;
        execv(program, arguments);
    }
    unsetenv(MARK);
}

typedef struct {
    uintptr_t program, program_end;  // whole pages
    uintptr_t heap;
    uintptr_t mapped, mapped_end;  // from the lowest mapping above the heap to the highest
    uintptr_t stack, stack_end;
} layout;

static int find_program(struct dl_phdr_info* info, size_t size, void* result) {
    (void)size;
    layout* found = result;
    found->program = UINTPTR_MAX;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD) continue;
        const uintptr_t from = info->dlpi_addr + segment->p_vaddr, to = from + segment->p_memsz;
        if (from < found->program) found->program = from & -(uintptr_t)PAGE;
        if (to > found->program_end) found->program_end = (to + PAGE - 1) & -(uintptr_t)PAGE;
    }
    return 1;  // the first is the program itself
}

// A file, read byte by byte with system calls: the program's heap must not be used here.
typedef struct {
    long fd;
    long left;
    const char* next;
    char bytes[4096];
} text;

static int next_byte(text* t) {
    if (t->left <= 0) {
        t->left = syscall(SYS_read, t->fd, t->bytes, sizeof t->bytes);
        t->next = t->bytes;
        if (t->left <= 0) return -1;
    }
    t->left--;
    return (unsigned char)*t->next++;
}

static uintptr_t number(text* t) {  // also consumes the byte behind the number
    uintptr_t n = 0;
    for (int c = next_byte(t);; c = next_byte(t)) {
        if (c >= '0' && c <= '9')
            n = n << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            n = n << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return n;
    }
}

// Reads the rest of a line of /proc/self/maps: the letter after the bracket of "[heap]", "[stack]"
// and such, or 0 for a mapping of a file or without a name; -1 at the end of the file.
static int kind_of_mapping(text* t) {
    int kind = 0, before = ' ';
    for (int c = next_byte(t); c != '\n'; c = next_byte(t)) {
        if (c < 0) return -1;
        if (before == '[' && kind == 0) kind = c;
        if (c == '/' && kind == 0) kind = '/';
        before = c;
    }
    return kind == '/' ? 0 : kind;
}

// Whether everything lies in the order above, which other loaders and valgrind do not keep.
static bool find_layout(layout* found, uintptr_t in_stack) {
    *found = (layout){0};
    dl_iterate_phdr(find_program, found);
    text maps = {.fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0)};
    if (maps.fd < 0) return false;
    while (found->stack == 0) {
        const uintptr_t start = number(&maps), end = number(&maps);
        const int kind = kind_of_mapping(&maps);
        if (kind < 0) break;
        if (kind == 's') {
            found->stack = start;
            found->stack_end = end;
        } else if (kind == 'h') {
            found->heap = start;
        } else if (start >= found->program_end) {
            if (found->mapped == 0) found->mapped = start;
            found->mapped_end = end;
        }
    }
    syscall(SYS_close, maps.fd);
    if (found->heap == 0) found->heap = (uintptr_t)sbrk(0);
    const uintptr_t loader = getauxval(AT_BASE);
    return found->program_end <= found->heap && found->heap < found->mapped &&
           found->mapped <= loader && loader < found->mapped_end && found->stack <= in_stack &&
           in_stack < found->stack_end;
}

// Makes later mappings lie below a multiple of a gibibyte. Returns that border, or 0.
static uintptr_t leave_gap(const layout* found) {
    const uintptr_t border = found->mapped & -(uintptr_t)GIBIBYTE, bytes = found->mapped - border;
    if (bytes == 0) return border;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    return mmap((void*)border, bytes, PROT_NONE, flags, -1, 0) == (void*)border ? border : 0;
}

static void move_area(int number, uintptr_t from, uintptr_t less) {
    af_shared->areas.from[number] = from >> 6;
    af_shared->areas.less[number] = (uint64_t)((int64_t)less >> 6);
}

bool af_steady_addresses(char** arguments) {
    start_again(arguments);
    const char* const wanted = getenv("AUTOFINITY_CAPTURE_ADDRESSES");
    layout now;
    if ((wanted != NULL && strcmp(wanted, "own") == 0) || !find_layout(&now, (uintptr_t)arguments))
        return false;
    const uintptr_t border = leave_gap(&now);
    if (border == 0) return false;
    ground = ((uintptr_t)arguments - ABOVE_MAIN) & -(uintptr_t)GROUND;
    // A program that is linked to fixed addresses has these addresses.
    const bool anywhere = now.program > UINT32_MAX;
    const uintptr_t program_less = anywhere ? now.program - program_at : 0;
    move_area(0, now.program, program_less);
    move_area(1, now.heap, now.heap - (now.program_end - program_less));
    move_area(2, now.heap + (now.mapped - now.heap) / 2, border - border_at);
    move_area(3, border, now.mapped_end - mappings_end);
    move_area(4, now.mapped_end, ground - ground_at);
    return true;
}

uintptr_t af_ground(void) { return ground; }
