// Text put together without the C library's functions, which take more than a kilobyte of a stack
// that is the program's, and may be a signal handler's small one.
#pragma once

// Each returns the new end of the text, where it ends it.
static inline char* af_put_text(char* at, const char* text) {
    while (*text != 0) *at++ = *text++;
    *at = 0;
    return at;
}

static inline char* af_put_number(char* at, unsigned number, int digits) {
    char reversed[10];
    int n = 0;
    for (; number != 0 || n < digits; number /= 10) reversed[n++] = (char)('0' + number % 10);
    while (n > 0) *at++ = reversed[--n];
    *at = 0;
    return at;
}
