// Runs a program with system calls refused as a container's seccomp profile does (EPERM):
// blocked CALL,CALL,… PROGRAM ARGS…
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char* name;
    int number;
} CALLS[] = {{"set_mempolicy", SYS_set_mempolicy},
             {"move_pages", SYS_move_pages},
             {"perf_event_open", SYS_perf_event_open},
             {"sched_setaffinity", SYS_sched_setaffinity}};

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    struct sock_filter filter[2 * sizeof CALLS / sizeof CALLS[0] + 2] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
    unsigned short length = 1;
    for (size_t i = 0; i < sizeof CALLS / sizeof CALLS[0]; i++) {
        if (!strstr(argv[1], CALLS[i].name)) continue;
        filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                                        (unsigned)CALLS[i].number, 0, 1);
        filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    }
    filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {length, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        perror("seccomp");
        return 77;
    }
    execvp(argv[2], argv + 2);
    return 127;
}
