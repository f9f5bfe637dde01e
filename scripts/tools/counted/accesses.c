// Counts the loads and stores of a program that was built with -fsanitize=thread, and which lines
// of 64 bytes it touches in its region of interest: a small stand-in for libtsan.so.2 that records
// nothing, so that regions of many G accesses can be counted (scripts/tools/footprints.py).
//
// What leaves a core is estimated by a cache of 1 MiB for each thread, 16 ways, least recently used
// out: as the private caches of an EPYC 9654 and near those of a Xeon 8480.
//
// Each thread has a tally of its own with a bit for every line of the address space, in leaves of
// 1 GiB that are mapped when they are first touched. Tallies outlive their threads.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "region.h"

#define API __attribute__((visibility("default")))

enum {
    LINE_BITS = 6,
    LEAF_BITS = 30,
    LEAVES = 1 << (47 - LEAF_BITS),
    WORDS = 1 << (LEAF_BITS - LINE_BITS - 6),
    SETS = 1024,
    WAYS = 16,
};

typedef struct tally {
    struct tally* next;
    uint64_t inside, outside, fetched, last_line;
    uint64_t* leaf[LEAVES];
    uint64_t cached[SETS][WAYS];  // lines, the one used last first; 0 is none's
} tally;

static tally* tallies;
static __thread tally* own __attribute__((tls_model("initial-exec")));

static void* fresh_pages(size_t bytes) {
    void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) abort();
    return pages;
}

static tally* make_tally(void) {
    tally* const made = fresh_pages(sizeof(tally));
    made->next = __atomic_load_n(&tallies, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&tallies, &made->next, made, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
    return own = made;
}

static inline tally* mine(void) { return __builtin_expect(own != NULL, 1) ? own : make_tally(); }

// Lines of large arrays spread over the sets as physical pages do: by a hash of the page's number.
static inline uint64_t* set_of(tally* t, uint64_t line) {
    const uint64_t page = line >> 6;
    return t->cached[(line + (page * 0x9e3779b97f4a7c15ull >> 54) * 64) & (SETS - 1)];
}

static void look_up(tally* t, uint64_t line) {
    uint64_t* const set = set_of(t, line);
    uint64_t moved = set[0];
    if (moved == line) return;
    set[0] = line;
    for (int way = 1; way < WAYS; way++) {
        const uint64_t here = set[way];
        set[way] = moved;
        if (here == line) return;
        moved = here;
    }
    t->fetched++;
}

static inline void mark(tally* t, uint64_t line) {
    if (line == t->last_line) return;
    t->last_line = line;
    look_up(t, line);
    uint64_t** const leaf = &t->leaf[line >> (LEAF_BITS - LINE_BITS) & (LEAVES - 1)];
    if (__builtin_expect(*leaf == NULL, 0)) *leaf = fresh_pages(WORDS * sizeof(uint64_t));
    (*leaf)[line >> 6 & (WORDS - 1)] |= 1ull << (line & 63);
}

static inline void touch(const volatile void* p, size_t size) {
    tally* const t = mine();
    if (!counted_in_region) {
        t->outside++;
        return;
    }
    t->inside++;
    mark(t, (uintptr_t)p >> LINE_BITS);
    mark(t, ((uintptr_t)p + size - 1) >> LINE_BITS);
}

// As 16-byte accesses, which is how a capture counts copies.
static void touch_range(const void* p, size_t size) {
    for (size_t done = 0; done < size; done += 16)
        touch((const char*)p + done, size - done < 16 ? size - done : 16);
}

// ---- What compiled code calls

API void __tsan_init(void) {}
API void __tsan_func_entry(void* pc) { (void)pc; }
API void __tsan_func_exit(void) {}
API void __sanitizer_cov_trace_pc(void) {}

#define PLAIN(n)                                                         \
    API void __tsan_read##n(void* p) { touch(p, n); }                    \
    API void __tsan_write##n(void* p) { touch(p, n); }                   \
    API void __tsan_unaligned_read##n(void* p) { touch(p, n); }          \
    API void __tsan_unaligned_write##n(void* p) { touch(p, n); }         \
    API void __tsan_volatile_read##n(void* p) { touch(p, n); }           \
    API void __tsan_volatile_write##n(void* p) { touch(p, n); }          \
    API void __tsan_unaligned_volatile_read##n(void* p) { touch(p, n); } \
    API void __tsan_unaligned_volatile_write##n(void* p) { touch(p, n); }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

API void __tsan_vptr_read(void** p) { touch(p, 8); }
API void __tsan_vptr_update(void** p, void* value) {
    (void)value;
    touch(p, 8);
}
API void __tsan_read_range(void* p, size_t size) { touch_range(p, size); }
API void __tsan_write_range(void* p, size_t size) { touch_range(p, size); }

// An atomic change is a load and a store of one line: two accesses.
#define FETCH(bits, type, name)                                                        \
    API type __tsan_atomic##bits##_fetch_##name(volatile type* p, type v, int order) { \
        (void)order;                                                                   \
        touch(p, bits / 8);                                                            \
        touch(p, bits / 8);                                                            \
        return __atomic_fetch_##name(p, v, __ATOMIC_SEQ_CST);                          \
    }
#define ATOMICS(bits, type)                                                                  \
    API type __tsan_atomic##bits##_load(const volatile type* p, int order) {                 \
        (void)order;                                                                         \
        touch(p, bits / 8);                                                                  \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                         \
    }                                                                                        \
    API void __tsan_atomic##bits##_store(volatile type* p, type v, int order) {              \
        (void)order;                                                                         \
        touch(p, bits / 8);                                                                  \
        __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                            \
    }                                                                                        \
    API type __tsan_atomic##bits##_exchange(volatile type* p, type v, int order) {           \
        (void)order;                                                                         \
        touch(p, bits / 8);                                                                  \
        touch(p, bits / 8);                                                                  \
        return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                  \
    }                                                                                        \
    API int __tsan_atomic##bits##_compare_exchange_strong(volatile type* p, type* c, type v, \
                                                          int order, int failure) {          \
        (void)order;                                                                         \
        (void)failure;                                                                       \
        touch(p, bits / 8);                                                                  \
        const int done =                                                                     \
            __atomic_compare_exchange_n(p, c, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        if (done) touch(p, bits / 8);                                                        \
        return done;                                                                         \
    }                                                                                        \
    API int __tsan_atomic##bits##_compare_exchange_weak(volatile type* p, type* c, type v,   \
                                                        int order, int failure) {            \
        return __tsan_atomic##bits##_compare_exchange_strong(p, c, v, order, failure);       \
    }                                                                                        \
    API type __tsan_atomic##bits##_compare_exchange_val(volatile type* p, type c, type v,    \
                                                        int order, int failure) {            \
        __tsan_atomic##bits##_compare_exchange_strong(p, &c, v, order, failure);             \
        return c;                                                                            \
    }                                                                                        \
    FETCH(bits, type, add)                                                                   \
    FETCH(bits, type, sub)                                                                   \
    FETCH(bits, type, and)                                                                   \
    FETCH(bits, type, or)                                                                    \
    FETCH(bits, type, xor)                                                                   \
    FETCH(bits, type, nand)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

API void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
API void __tsan_atomic_signal_fence(int order) { (void)order; }

// ---- Copies of the C library

static void copy_up(char* to, const char* from, size_t size) {
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
    for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = from[i];
#endif
}

API void* memcpy(void* restrict to, const void* restrict from, size_t size) {
    touch_range(from, size);
    touch_range(to, size);
    copy_up(to, from, size);
    return to;
}

API void* memmove(void* to, const void* from, size_t size) {
    touch_range(from, size);
    touch_range(to, size);
    if ((uintptr_t)to <= (uintptr_t)from || (uintptr_t)to >= (uintptr_t)from + size)
        copy_up(to, from, size);
    else
        for (size_t i = size; i-- > 0;) ((volatile char*)to)[i] = ((const char*)from)[i];
    return to;
}

API void* memset(void* p, int c, size_t size) {
    touch_range(p, size);
    for (size_t i = 0; i < size; i++) ((volatile char*)p)[i] = (char)c;
    return p;
}

API int memcmp(const void* a, const void* b, size_t size) {
    size_t same = 0;
    while (same < size &&
           ((const volatile unsigned char*)a)[same] == ((const unsigned char*)b)[same])
        same++;
    touch_range(a, same < size ? same + 1 : size);
    touch_range(b, same < size ? same + 1 : size);
    return same == size ? 0 : ((const unsigned char*)a)[same] - ((const unsigned char*)b)[same];
}

// ---- The figures

static uint64_t lines_of(const uint64_t* leaf) {
    uint64_t lines = 0;
    for (size_t w = 0; w < WORDS; w++) lines += (uint64_t)__builtin_popcountll(leaf[w]);
    return lines;
}

// Lines of a leaf that any thread touched.
static uint64_t lines_of_all(size_t leaf) {
    uint64_t lines = 0;
    for (size_t w = 0; w < WORDS; w++) {
        uint64_t any = 0;
        for (const tally* t = tallies; t != NULL; t = t->next)
            if (t->leaf[leaf] != NULL) any |= t->leaf[leaf][w];
        lines += (uint64_t)__builtin_popcountll(any);
    }
    return lines;
}

void counted_report(FILE* to) {
    uint64_t inside = 0, outside = 0, fetched = 0, most = 0, all = 0;
    for (const tally* t = tallies; t != NULL; t = t->next) {
        uint64_t lines = 0;
        inside += t->inside;
        outside += t->outside;
        fetched += t->fetched;
        for (size_t leaf = 0; leaf < LEAVES; leaf++)
            if (t->leaf[leaf] != NULL) lines += lines_of(t->leaf[leaf]);
        if (lines > most) most = lines;
    }
    for (size_t leaf = 0; leaf < LEAVES; leaf++) {
        bool touched = false;
        for (const tally* t = tallies; t != NULL; t = t->next) touched |= t->leaf[leaf] != NULL;
        if (touched) all += lines_of_all(leaf);
    }
    fprintf(to, "inside %lu\noutside %lu\nfetched_lines %lu\n", (unsigned long)inside,
            (unsigned long)outside, (unsigned long)fetched);
    fprintf(to, "thread_lines %lu\nall_lines %lu\n", (unsigned long)most, (unsigned long)all);
}
