// deny (errno|kill) NAME -- COMMAND...: runs the command under a seccomp filter that refuses one
// system call with EPERM, or ends the process that makes it, as systemd's SystemCallFilter= does by
// default.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name) {#name, SYS_##name}

static const struct {
    const char* name;
    int number;
} CALLS[] = {
    CALL(clone3),
    CALL(close_range),
    CALL(chdir),
    CALL(faccessat2),
    CALL(fcntl),
    CALL(getcwd),
    CALL(getrandom),
    CALL(getxattr),
    CALL(kill),
    CALL(move_pages),
    CALL(perf_event_open),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pipe2),
    CALL(ppoll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(readlinkat),
    CALL(rt_sigtimedwait),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_setscheduler),
    CALL(setsid),
    CALL(umask),
    CALL(wait4),
    CALL(waitid),
#ifdef __x86_64__
    CALL(access),
    CALL(fork),
    CALL(poll),
    CALL(readlink),
    CALL(vfork),
#endif
};

int main(int argc, char** argv) {
    if (argc < 5 || strcmp(argv[3], "--") != 0) return 98;
    int number = -1;
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        if (strcmp(CALLS[i].name, argv[2]) == 0) number = CALLS[i].number;
    }
    if (number < 0) return 97;  // not of this processor
    unsigned action =
        strcmp(argv[1], "kill") == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 96;
    execvp(argv[4], argv + 4);
    return 95;
}
