#include "capture/state/arena.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/state/failure.h"
#include "capture/state/thread.h"

static struct {
    _Atomic uint64_t id;
    atomic_flag lock;
    char* next;
    size_t left;
} arena;

uint64_t af_ids(uint64_t count) {
    return atomic_fetch_add_explicit(&arena.id, count, memory_order_relaxed) + 1;
}

void* af_map(size_t bytes) {
    void* p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void* af_map_huge(size_t bytes) {
    char* const p = af_map(bytes + AF_HUGE_BYTES);
    if (p == NULL) return NULL;
    const size_t before = -(uintptr_t)p % AF_HUGE_BYTES;
    if (before > 0) af_unmap(p, before);
    af_unmap(p + before + bytes, AF_HUGE_BYTES - before);
    syscall(SYS_madvise, p + before, bytes, MADV_HUGEPAGE);  // may be refused
    return p + before;
}

void af_unmap(void* pages, size_t bytes) { syscall(SYS_munmap, pages, bytes); }

void* af_alloc(size_t bytes) {
    bytes = (bytes + 15) & ~(size_t)15;
    af_shut_mine();
    while (atomic_flag_test_and_set_explicit(&arena.lock, memory_order_acquire)) sched_yield();
    if (bytes > arena.left) {
        arena.left = bytes > (1u << 20) ? bytes : 1u << 20;
        arena.next = af_map(arena.left);
    }
    char* p = arena.next;
    if (p != NULL) {
        arena.next += bytes;
        arena.left -= bytes;
    } else {
        arena.left = 0;
    }
    atomic_flag_clear_explicit(&arena.lock, memory_order_release);
    af_open_mine();
    if (p == NULL) {
        af_fail("out of memory while recording", "", ENOMEM);
        syscall(SYS_exit_group, 97);
    }
    return p;
}
