// Static variables of C++ functions that the first thread to reach them initialises: the guard
// functions of the Itanium C++ ABI (3.3.3). A thread that finds such a variable initialised does
// not call them.
#include <stdint.h>

#include "capture/interpose/interpose.h"
#include "capture/order/awaiting.h"
#include "capture/order/objects.h"
#include "capture/record/slots.h"
#include "capture/state/common.h"

int __cxa_guard_acquire(int64_t* guard);
void __cxa_guard_release(int64_t* guard);

AF_API int __cxa_guard_acquire(int64_t* guard) {
    af_thread* const t = af_here();
    if (t == NULL) return AF_REAL(__cxa_guard_acquire)(guard);
    af_object* const known = AF_OBJECT(af_object, guard, AF_IS_ONCE);
    af_block(t);
    const int mine = AF_QUIETLY(AF_REAL(__cxa_guard_acquire)(guard));
    af_unblock(t);
    if (!mine) af_await(t, __atomic_load_n(&known->token, __ATOMIC_ACQUIRE), NULL);
    return mine;
}

AF_API void __cxa_guard_release(int64_t* guard) {
    af_thread* const t = af_here();
    if (t != NULL) {
        const uint64_t token = af_token();
        af_event_add(t, AF_POST, token, 0);
        __atomic_store_n(&AF_OBJECT(af_object, guard, AF_IS_ONCE)->token, token, __ATOMIC_RELEASE);
    }
    AF_REAL(__cxa_guard_release)(guard);
}
