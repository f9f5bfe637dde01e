// System calls that may be forbidden are tried in a child: a seccomp filter may answer a system
// call by ending the process (as systemd's SystemCallFilter= does by default), and no process can
// ask beforehand.
//
// The child has no exit signal, so the application-to-be gets no SIGCHLD, and we sleep until it has
// ended (CLONE_VFORK, with memory of its own). Its results go through one shared page. In the
// process that becomes the application only these calls remain: mmap, getpid, clone, wait4 and
// prctl, and the last two only after a child has survived them.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

typedef struct {
    bool finished, may_wait;
    const char* step;
} Shared;

static volatile Shared* shared;

void trying(const char* step) {
    if (shared) shared->step = step;
}

// A core file of ours would lie in the application's folder. A limit of one byte keeps it from
// programs that take cores by a pipe, too (core(5)); under a hard limit of 0 there is none anyway.
static void leave_no_core(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_CORE, &limit) != 0) return;
    limit.rlim_cur = 1;
    setrlimit(RLIMIT_CORE, &limit);
}

static void become_aside(void) {
    // Ctrl-Z stops the application, not the child for which the application waits.
    static const int stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++) signal(stopping[i], SIG_IGN);
    leave_no_core();
}

AsideEnd run_aside(void (*work)(void*), void* with, int* signal_number) {
    *signal_number = 0;
    if (!shared) {
        void* page =
            mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return ASIDE_NONE;
        shared = page;
    }
    shared->finished = false;
    shared->step = NULL;
    pid_t child = (pid_t)syscall(SYS_clone, (unsigned long)CLONE_VFORK, NULL, NULL, NULL, 0);
    if (child < 0) return ASIDE_NONE;
    if (child == 0) {
        become_aside();
        work(with);
        shared->finished = true;
        _exit(0);
    }
    // Without wait4 the child stays a zombie that no wait of the application's returns; when its
    // end takes longer than our exec, the application gets a SIGCHLD.
    int status = 0;
    pid_t reaped = -1;
    while (shared->may_wait && (reaped = waitpid(child, &status, __WALL)) < 0 && errno == EINTR) {
        continue;
    }
    if (shared->finished) return ASIDE_DONE;
    *signal_number = reaped == child && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return ASIDE_DIED;
}

static void try_waiting(void* unused) {
    (void)unused;
    trying("wait4");
    waitpid(-1, NULL, __WALL | WNOHANG);
    shared->may_wait = true;
    trying("prctl");
    int subreaper = 0;
    prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
}

AsideEnd find_orphans_home(bool* here, int* signal_number) {
    AsideEnd end = run_aside(try_waiting, NULL, signal_number);
    int subreaper = 0;
    if (end == ASIDE_DONE) prctl(PR_GET_CHILD_SUBREAPER, &subreaper);
    *here = getpid() == 1 || subreaper;
    return end;
}

void explain_aside(AsideEnd end, int signal_number, char out[REASON_CHARS]) {
    const char* step = shared && shared->step ? shared->step : "what setting it up takes";
    if (end == ASIDE_NONE) {
        snprintf(out, REASON_CHARS, "fork: %s", strerror(errno));
    } else if (signal_number == 0 || signal_number == SIGSYS) {
        snprintf(out, REASON_CHARS,
                 "a seccomp filter kills the caller of %s (as systemd's SystemCallFilter= does; "
                 "SystemCallErrorNumber=EPERM refuses it instead); the program runs alone",
                 step);
    } else {
        snprintf(out, REASON_CHARS, "its set-up was ended at %s (%s); the program runs alone", step,
                 strsignal(signal_number));
    }
}
