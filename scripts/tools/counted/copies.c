// Functions of the C library that copy and compare for the program.
#include "tally.h"

static void copy_up(char* to, const char* from, size_t size) {
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
#else
    for (size_t i = 0; i < size; i++) ((volatile char*)to)[i] = from[i];
#endif
}

API void* memcpy(void* restrict to, const void* restrict from, size_t size) {
    touch_range(from, size, COPY);
    touch_range(to, size, COPY);
    copy_up(to, from, size);
    return to;
}

API void* memmove(void* to, const void* from, size_t size) {
    touch_range(from, size, COPY);
    touch_range(to, size, COPY);
    if ((uintptr_t)to <= (uintptr_t)from || (uintptr_t)to >= (uintptr_t)from + size)
        copy_up(to, from, size);
    else
        for (size_t i = size; i-- > 0;) ((volatile char*)to)[i] = ((const char*)from)[i];
    return to;
}

API void* memset(void* p, int c, size_t size) {
    touch_range(p, size, COPY);
    for (size_t i = 0; i < size; i++) ((volatile char*)p)[i] = (char)c;
    return p;
}

API int memcmp(const void* a, const void* b, size_t size) {
    size_t same = 0;
    while (same < size &&
           ((const volatile unsigned char*)a)[same] == ((const unsigned char*)b)[same])
        same++;
    touch_range(a, same < size ? same + 1 : size, COPY);
    touch_range(b, same < size ? same + 1 : size, COPY);
    return same == size ? 0 : ((const unsigned char*)a)[same] - ((const unsigned char*)b)[same];
}
