// Locks of the C library's files, as programs take them by name. Locks that the library's own
// functions take inside are not seen.
#include <stdio.h>

#include "capture/interpose/interpose.h"
#include "capture/order/exclusion.h"

AF_API void flockfile(FILE* file) {
    af_thread* const t = af_here();
    if (t == NULL) {
        AF_REAL(flockfile)(file);
        return;
    }
    if (AF_QUIETLY(AF_REAL(ftrylockfile)(file)) != 0) {
        af_block(t);
        AF_UNHEARD(AF_REAL(flockfile)(file));
        af_unblock(t);
    }
    af_acquired(t, (uint64_t)(uintptr_t)file, true);
}
AF_API int ftrylockfile(FILE* file) {
    af_thread* const t = af_here();
    const int held = AF_QUIETLY(AF_REAL(ftrylockfile)(file));
    if (t == NULL) return held;
    if (held == 0)
        af_acquired(t, (uint64_t)(uintptr_t)file, true);
    else
        af_attempt_failed(t, file);
    return held;
}
AF_API void funlockfile(FILE* file) {
    af_thread* const t = af_here();
    if (t != NULL && af_owns(t, (uint64_t)(uintptr_t)file))
        af_releasing(t, (uint64_t)(uintptr_t)file, true);
    AF_UNHEARD(AF_REAL(funlockfile)(file));
}
