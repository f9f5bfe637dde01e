// Jumps out of signal handlers. A handler may have come in the middle of encoding, or while its
// thread held a lock of the runtime: a jump leaves that undone for good, and no whole trace can
// come of the run. It is said once, and the program goes on.
#include <errno.h>
#include <setjmp.h>

#include "capture/interpose/interpose.h"
#include "capture/state/failure.h"

static void leave(void) {
    const af_thread* const t = af_mine;
    if (t != NULL && (t->busy | t->telling) != 0)
        af_fail("a signal handler left the recorder in the middle by longjmp or siglongjmp;",
                "capture the program without that signal", EINTR);
}

#define JUMP(name)                                                       \
    AF_API __attribute__((noreturn)) void name(jmp_buf env, int value) { \
        leave();                                                         \
        AF_REAL(name)(env, value);                                       \
        __builtin_unreachable();                                         \
    }
void __longjmp_chk(jmp_buf env, int value);
JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)
