// Functions that -fsanitize=thread makes code call: where a capture cannot instrument assembly.
#include "tally.h"

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
API void __tsan_read_range(void* p, size_t size) { touch_range(p, size, WORD); }
API void __tsan_write_range(void* p, size_t size) { touch_range(p, size, WORD); }

// An atomic change is a load and a store of one line, two accesses, whether it succeeds or not.
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
        touch(p, bits / 8);                                                                  \
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
