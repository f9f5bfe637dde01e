// mem* and str*: their code is not instrumented, and some programs do most of their work there.
// Calls are recorded as runs of 32-byte accesses, line by line, one instruction each, as a
// vectorised library does it. The real functions do the work, and plain loops where they are being
// looked up: dlsym itself may call these functions.
#include <string.h>

#include "capture/interpose/interpose.h"
#include "capture/interpose/ranges.h"

// Reads and writes alternate line by line, as a copy does.
static void copy_range(void* to, const void* from, size_t size) {
    af_thread* t = af_heard();
    if (t == NULL) return;
    for (size_t done = 0; done < size;) {
        size_t step = 64 - ((uintptr_t)from + done) % 64;
        if (step > size - done) step = size - done;
        af_touch_range(t, (uintptr_t)from + done, step, false);
        af_touch_range(t, (uintptr_t)to + done, step, true);
        done += step;
    }
}

AF_API void* memcpy(void* restrict to, const void* restrict from, size_t size) {
    copy_range(to, from, size);
    __auto_type const real = AF_REAL(memcpy);
    if (AF_LIKELY(real != NULL)) return real(to, from, size);
    for (size_t i = 0; i < size; i++) ((char*)to)[i] = ((const char*)from)[i];
    return to;
}
AF_API void* memmove(void* to, const void* from, size_t size) {
    copy_range(to, from, size);
    __auto_type const real = AF_REAL(memmove);
    if (AF_LIKELY(real != NULL)) return real(to, from, size);
    if ((uintptr_t)to < (uintptr_t)from)
        for (size_t i = 0; i < size; i++) ((char*)to)[i] = ((const char*)from)[i];
    else
        for (size_t i = size; i-- > 0;) ((char*)to)[i] = ((const char*)from)[i];
    return to;
}
AF_API void* memset(void* p, int c, size_t size) {
    af_write_range(p, size);
    __auto_type const real = AF_REAL(memset);
    if (AF_LIKELY(real != NULL)) return real(p, c, size);
    for (size_t i = 0; i < size; i++) ((volatile char*)p)[i] = (char)c;
    return p;
}
// Compilers call these functions where memory checks are requested at build time (_FORTIFY_SOURCE).
AF_API void* __memcpy_chk(void* to, const void* from, size_t size, size_t room) {
    if (size > room) __builtin_trap();
    return memcpy(to, from, size);
}
AF_API void* __memmove_chk(void* to, const void* from, size_t size, size_t room) {
    if (size > room) __builtin_trap();
    return memmove(to, from, size);
}
AF_API void* __memset_chk(void* p, int c, size_t size, size_t room) {
    if (size > room) __builtin_trap();
    return memset(p, c, size);
}

AF_API int memcmp(const void* a, const void* b, size_t size) {
    int result = 0;
    __auto_type const real = AF_REAL(memcmp);
    if (AF_LIKELY(real != NULL)) {
        result = real(a, b, size);
    } else {
        for (size_t i = 0; i < size && result == 0; i++)
            result = ((const unsigned char*)a)[i] - ((const unsigned char*)b)[i];
    }
    if (af_heard() != NULL) {
        size_t same = size;
        if (result != 0)
            for (same = 0; same < size; same++)
                if (((const char*)a)[same] != ((const char*)b)[same]) break;
        if (same < size) same++;
        af_read_range(a, same);
        af_read_range(b, same);
    }
    return result;
}
AF_API void* memchr(const void* p, int c, size_t size) {
    const char* found = NULL;
    __auto_type const real = AF_REAL(memchr);
    if (AF_LIKELY(real != NULL)) {
        found = real(p, c, size);
    } else {
        for (size_t i = 0; i < size && found == NULL; i++)
            if (((const char*)p)[i] == (char)c) found = (const char*)p + i;
    }
    af_read_range(p, found != NULL ? (size_t)(found - (const char*)p) + 1 : size);
    return (void*)found;
}

static size_t length(const char* s) {
    __auto_type const real = AF_REAL(strlen);
    if (AF_LIKELY(real != NULL)) return real(s);
    size_t n = 0;
    while (((const volatile char*)s)[n] != 0) n++;
    return n;
}
static size_t length_within(const char* s, size_t limit) {
    size_t n = 0;
    while (n < limit && s[n] != 0) n++;
    return n;
}
AF_API size_t strlen(const char* s) {
    const size_t n = length(s);
    af_read_range(s, n + 1);
    return n;
}
AF_API size_t strnlen(const char* s, size_t limit) {
    const size_t n = length_within(s, limit);
    af_read_range(s, n < limit ? n + 1 : n);
    return n;
}

static void read_common(const char* a, const char* b, size_t limit) {
    if (af_heard() == NULL) return;
    size_t n = 0;
    while (n < limit && a[n] == b[n] && a[n] != 0) n++;
    af_read_range(a, n < limit ? n + 1 : n);
    af_read_range(b, n < limit ? n + 1 : n);
}
AF_API int strcmp(const char* a, const char* b) {
    read_common(a, b, SIZE_MAX);
    __auto_type const real = AF_REAL(strcmp);
    if (AF_LIKELY(real != NULL)) return real(a, b);
    while (*a == *b && *a != 0) a++, b++;
    return *(const unsigned char*)a - *(const unsigned char*)b;
}
AF_API int strncmp(const char* a, const char* b, size_t size) {
    read_common(a, b, size);
    __auto_type const real = AF_REAL(strncmp);
    if (AF_LIKELY(real != NULL)) return real(a, b, size);
    for (; size > 0; size--, a++, b++) {
        if (*a != *b) return *(const unsigned char*)a - *(const unsigned char*)b;
        if (*a == 0) break;
    }
    return 0;
}

// The other functions are built from those above on purpose: these record what the others read and
// write.
AF_API char* strcpy(char* restrict to, const char* restrict from) {
    memcpy(to, from, length(from) + 1);
    return to;
}
AF_API char* stpcpy(char* restrict to, const char* restrict from) {
    const size_t n = length(from);
    memcpy(to, from, n + 1);
    return to + n;
}
AF_API char* strncpy(char* restrict to, const char* restrict from, size_t size) {
    const size_t n = length_within(from, size);
    memcpy(to, from, n);
    memset(to + n, 0, size - n);
    return to;
}
AF_API char* strcat(char* restrict to, const char* restrict from) {
    memcpy(to + strlen(to), from, length(from) + 1);
    return to;
}
AF_API char* strncat(char* restrict to, const char* restrict from, size_t size) {
    const size_t n = length_within(from, size), end = strlen(to);
    memcpy(to + end, from, n);
    memset(to + end + n, 0, 1);
    return to;
}
AF_API char* strchr(const char* s, int c) {
    size_t n = 0;
    while (s[n] != (char)c && s[n] != 0) n++;
    af_read_range(s, n + 1);
    return s[n] == (char)c ? (char*)s + n : NULL;
}
AF_API char* strrchr(const char* s, int c) {
    size_t n = strlen(s) + 1;
    while (n-- > 0)
        if (s[n] == (char)c) return (char*)s + n;
    return NULL;
}
