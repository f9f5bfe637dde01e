// The functions that gcc, g++, gfortran and clang call under -fsanitize=thread for loads and
// stores.
#include "capture/interpose/second_lines.h"
#include "capture/interpose/volatiles.h"
#include "capture/threads/streams.h"

// Rare paths are calls at the very end: then the common ones need no stack.
static __attribute__((noinline)) void touch_first(void* address, unsigned size, bool write) {
    af_thread* t = af_attach();
    if (t != NULL) af_access_unaligned(t, (uintptr_t)address, size, write);
}

static __attribute__((noinline)) void touch_apart(af_thread* t, void* address, unsigned size,
                                                  bool write) {
    if (AF_UNLIKELY(t->beside_fence != 0)) {
        t->beside_fence--;
        af_set_limits(t);
        if (write)
            af_volatile_write(address, size);
        else
            af_volatile_read(address, size);
        return;
    }
    af_count_second_line(t, (uintptr_t)address, size, 1);
    af_access_apart(t, (uintptr_t)address, size, write);
}

static inline void touch(void* address, unsigned size, bool aligned, bool write) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL))
        touch_first(address, size, write);
    else if (AF_LIKELY(af_access_quick(t, t->now, (uintptr_t)address, size, aligned, write)))
        af_spend(t);
    else
        touch_apart(t, address, size, write);
}

// A load of pointer size may be the base of the next access.
static __attribute__((noinline)) void load8_apart(af_thread* t, void* address) {
    touch_apart(t, address, 8, false);
    af_loaded_from(t, (uintptr_t)address);
}

static __attribute__((noinline)) void load8_first(void* address) {
    af_thread* t = af_attach();
    if (t == NULL) return;
    af_access_unaligned(t, (uintptr_t)address, 8, false);
    af_loaded_from(t, (uintptr_t)address);
}

static inline void load8(void* address, bool aligned) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL)) {
        load8_first(address);
    } else if (AF_LIKELY(af_access_quick(t, t->now, (uintptr_t)address, 8, aligned, false))) {
        af_loaded_from(t, (uintptr_t)address);
        af_spend(t);
    } else {
        load8_apart(t, address);
    }
}

// Structures: one access for each 8-byte word, line by line.
static inline void range(void* address, size_t size, bool write) {
    af_thread* t = af_self;
    if (AF_UNLIKELY(t == NULL) && (t = af_attach()) == NULL) return;
    for (uintptr_t at = (uintptr_t)address, end = at + size; at < end;) {
        const uintptr_t line_end = (at | 63) + 1, to = line_end < end ? line_end : end;
        const unsigned words = (unsigned)(((to + 7) >> 3) - (at >> 3));
        af_accesses_apart(t, at, 1, write ? 0 : words, write ? words : 0);
        at = to;
    }
}

#define PLAIN(n)                                                                 \
    AF_API void __tsan_write##n(void* p) { touch(p, n, true, true); }            \
    AF_API void __tsan_unaligned_write##n(void* p) { touch(p, n, false, true); } \
    AF_API void __tsan_write##n##_pc(void* p, void* pc) {                        \
        (void)pc;                                                                \
        touch(p, n, true, true);                                                 \
    }                                                                            \
    AF_API void __tsan_read_write##n(void* p) {                                  \
        touch(p, n, true, false);                                                \
        touch(p, n, true, true);                                                 \
    }                                                                            \
    AF_API void __tsan_unaligned_read_write##n(void* p) {                        \
        touch(p, n, false, false);                                               \
        touch(p, n, false, true);                                                \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define READ(n)                                                                  \
    AF_API void __tsan_read##n(void* p) { touch(p, n, true, false); }            \
    AF_API void __tsan_unaligned_read##n(void* p) { touch(p, n, false, false); } \
    AF_API void __tsan_read##n##_pc(void* p, void* pc) {                         \
        (void)pc;                                                                \
        touch(p, n, true, false);                                                \
    }
READ(1)
READ(2)
READ(4)
READ(16)

AF_API void __tsan_read8(void* p) { load8(p, true); }
AF_API void __tsan_unaligned_read8(void* p) { load8(p, false); }
AF_API void __tsan_read8_pc(void* p, void* pc) {
    (void)pc;
    load8(p, true);
}

AF_API void __tsan_vptr_update(void** p, void* value) {
    (void)value;
    touch(p, 8, true, true);
}
AF_API void __tsan_vptr_read(void** p) { load8(p, true); }
AF_API void __tsan_read_range(void* p, size_t size) { range(p, size, false); }
AF_API void __tsan_write_range(void* p, size_t size) { range(p, size, true); }
AF_API void __tsan_read_range_pc(void* p, size_t size, void* pc) {
    (void)pc;
    range(p, size, false);
}
AF_API void __tsan_write_range_pc(void* p, size_t size, void* pc) {
    (void)pc;
    range(p, size, true);
}

#define UNALIGNED(bits)                                                        \
    AF_API void __sanitizer_unaligned_store##bits(void* p, uint##bits##_t v) { \
        touch(p, bits / 8, false, true);                                       \
        __builtin_memcpy(p, &v, bits / 8);                                     \
    }                                                                          \
    AF_API uint##bits##_t __sanitizer_unaligned_load##bits(void* p) {          \
        uint##bits##_t v;                                                      \
        touch(p, bits / 8, false, false);                                      \
        __builtin_memcpy(&v, p, bits / 8);                                     \
        return v;                                                              \
    }
UNALIGNED(16)
UNALIGNED(32)
UNALIGNED(64)
