// The monitor's native half: so detached that the application cannot notice it.
//
//   launcher ──aside──► set-up ──fork──► monitor (in the set-up's session, adopted by init)
//      │                   └─ where there is a PMU: waits at most 2 ms for "counters are open";
//      ends └─ reaps the set-up by its pid; becomes the application
//
// Two traps decide the shape. A child that dies while the application runs is the *application's*
// child and its waitpid(-1) would return it: so the monitor is a grandchild, and its parent is gone
// before exec. And a process that is PID 1 or a subreaper adopts the orphan back: there the native
// half is a direct child (CLONE_PARENT) without an exit signal, which waitpid(-1) does not see; it
// never execs (exec would set the signal to SIGCHLD), and runs Python as its own child.
//
// Python starts only when the application has lived for a moment: short commands never pay for it.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher.h"

// 2 ms is ten times the duration of attaching; a monitor that needs longer waits for an RCU grace
// period of 10-20 ms, for which the application does not wait.
enum { ATTACH_WAIT_MS = 2, PYTHON_DELAY_MS = 150 };

static void close_between(unsigned first, unsigned last) {
    if (first > last) return;
    if (syscall(SYS_close_range, first, last, 0) == 0) return;
    struct rlimit limit;  // kernels before 5.9
    unsigned end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1 << 20
                       ? (unsigned)limit.rlim_cur
                       : 1 << 20;
    for (unsigned fd = first; fd <= last && fd < end; fd++) close((int)fd);
}

// Keeps the two descriptors (the second may be -1: none), closes all others, and puts /dev/null on
// 0, 1 and 2.
static bool close_all_but(int* a, int* b) {
    if (*a < 3 && (*a = fcntl(*a, F_DUPFD, 3)) < 0) return false;
    if (*b >= 0 && *b < 3 && (*b = fcntl(*b, F_DUPFD, 3)) < 0) return false;
    int low = *b >= 0 && *b < *a ? *b : *a;
    int high = *b > *a ? *b : *a;
    close_between(0, (unsigned)low - 1);
    if (low < high) close_between((unsigned)low + 1, (unsigned)high - 1);
    close_between((unsigned)high + 1, ~0u);
    for (int fd = 0; fd < 3; fd++) {
        if (open("/dev/null", fd ? O_WRONLY : O_RDONLY) != fd) return false;
    }
    return true;
}

// Removes every signal disposition, limit, priority and folder of the application from the monitor,
// and makes it the first to be killed when memory is short.
static void become_background(void) {
    // Batch systems send these to all processes of a job; they are meant for the application, which
    // may go on after them: to write a checkpoint, or to read its settings again.
    static const int for_others[] = {SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2};
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    for (size_t i = 0; i < sizeof for_others / sizeof for_others[0]; i++) {
        signal(for_others[i], SIG_IGN);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (chdir("/") != 0) _exit(1);
    umask(077);
    struct sched_param normal = {.sched_priority = 0};
    sched_setscheduler(0, SCHED_OTHER, &normal);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t written = write(fd, "1000", 4);
        (void)written;  // at worst it is not the first to be killed
        close(fd);
    }
}

static void keep_over_exec(int fd) { fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) & ~FD_CLOEXEC); }

// Becomes Python with `module`, which gets everything by arguments. Returns when exec fails.
// `seating`: where seated threads are named, or -1.
static void exec_python(const char* module, const MonitorRequest* request, int pidfd, int seating,
                        const Attached* attached, const Counters* counters) {
    char pid[16], descriptor[16], threads[16], ranks[16], rank[16], near_node[16];
    char started[40], opened[256] = "", ladder[REASON_CHARS], seated[16];
    snprintf(pid, sizeof pid, "%d", (int)request->application);
    snprintf(descriptor, sizeof descriptor, "%d", pidfd);
    snprintf(threads, sizeof threads, "%d", request->threads);
    snprintf(ranks, sizeof ranks, "%d", request->local.ranks);
    snprintf(rank, sizeof rank, "%d", request->local.rank);
    snprintf(near_node, sizeof near_node, "%d", request->near_node);
    snprintf(started, sizeof started, "%lld.%09ld", (long long)request->started.tv_sec,
             request->started.tv_nsec);
    explain_ladder(attached, ladder, sizeof ladder);
    snprintf(seated, sizeof seated, "%d", seating);
    if (seating >= 0) keep_over_exec(seating);
    if (pidfd >= 0) keep_over_exec(pidfd);
    size_t used = 0;
    for (int i = 0; i < counters->count; i++) {
        keep_over_exec(counters->fds[i]);
        int wanted = snprintf(opened + used, sizeof opened - used, "%s%s=%d", i ? "," : "",
                              counters->names[i], counters->fds[i]);
        if (wanted > 0 && (size_t)wanted < sizeof opened - used) used += (size_t)wanted;
    }
    const char* const pairs[][2] = {
        {"--pid", pid},
        {"--pidfd", descriptor},
        {"--started", started},
        {"--threads", threads},
        {"--counters", opened},
        {"--tier", tier_name(attached->tier)},
        {"--ladder", ladder},
        {"--program", request->program->path},
        {"--key", request->program->key},
        {"--allowed", request->allowed},
        {"--bind", request->options->bind_threads ? request->options->bind : "none"},
        {"--sample-s", request->options->sample_s},
        {"--every-s", request->options->every_s},
        {"--policy", request->policy},
        {"--policy-origin", request->policy ? request->origin : NULL},
        {"--hint", request->options->hint},
        {"--near", request->near_node >= 0 ? request->options->near : NULL},
        {"--near-node", request->near_node >= 0 ? near_node : NULL},
        {"--fallback", request->options->fallback},
        {"--db", request->state ? request->state->db : NULL},
        {"--bound", request->bound},
        {"--seats", seating >= 0 ? request->seats->seats : NULL},
        {"--seated", seating >= 0 ? seated : NULL},
        {"--mechanism", request->options->mechanism},
        {"--migrate-pages", request->options->migrate_pages ? "yes" : NULL},
        {"--keep-pages", request->options->keep_pages ? "yes" : NULL},
        {"--arm", request->options->arm ? "yes" : NULL},
        {"--auto-rebuild", request->options->auto_rebuild ? "yes" : NULL},
        {"--json", request->options->json ? "yes" : NULL},
        {"--launcher", request->local.launcher},
        {"--ranks", request->local.launcher ? ranks : NULL},
        {"--rank", request->local.launcher ? rank : NULL},
    };
    const char* argv[PYTHON_WORDS + 2 * sizeof pairs / sizeof pairs[0]];
    // No private .pyc files are left in a shared installation.
    python_command(request->python, module, false, argv);
    int n = 0;
    while (argv[n]) n++;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (!pairs[i][1]) continue;
        argv[n++] = pairs[i][0];
        argv[n++] = pairs[i][1];
    }
    argv[n] = NULL;
    // By the environment, for it may hold a password, and arguments are shown to everybody.
    const char* site = request->state ? site_url(request->options) : "";
    execve(argv[0], (char* const*)argv, python_environment(request->python, true, site));
}

static void become_monitor(const MonitorRequest* request, int pidfd, int seating,
                           const Attached* attached, const Counters* counters) {
    const char* module = policy_decides(request->options) ? "autofinity.runtime.monitor"
                                                          : "autofinity.mechanisms.monitor";
    exec_python(module, request, pidfd, seating, attached, counters);
    _exit(1);
}

void become_dry_run(const MonitorRequest* request) {
    Attached attached;
    Counters counters;
    attach(request->application, hardware_refusal(), &attached, &counters);
    detach(&counters);
    exec_python("autofinity.cli.dry_run", request, -1, -1, &attached, &counters);
}

// Seats threads in a process of its own; returns where it names them, or -1. Nobody adopts it but
// init: where the program would, it is a child of the native half, and ends with it.
static int start_seating(const MonitorRequest* request, int pidfd) {
    int ends[2];
    if (!request->seats || pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_IGN);
        if (request->adopts) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != self) _exit(0);
        } else if (fork() != 0) {
            _exit(0);
        }
        seat_threads(request->application, pidfd, request->seats, request->own, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    if (child > 0 && !request->adopts) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    }
    return ends[0];
}

// `refusal`: the reason why there are no hardware counters; then `ready` is -1, and no process
// waits.
static void native_half(const MonitorRequest* request, int pidfd, int ready, int refusal) {
    if (!close_all_but(&pidfd, &ready)) _exit(1);
    Attached attached;
    Counters counters;
    attach(request->application, refusal, &attached, &counters);
    if (ready >= 0) {
        signal(SIGPIPE, SIG_IGN);  // the launcher may not have waited
        // The reader is gone: the application started before its counters were open, and threads it
        // has made since are not counted. No totals are better than wrong ones.
        if (write(ready, &attached, sizeof attached) < 0) detach(&counters);
        close(ready);
    }
    become_background();  // after the answer: the launcher waits for it
    int seating = start_seating(request, pidfd);
    if (ended_within(pidfd, PYTHON_DELAY_MS)) {
        if (request->state) keep_short_run(request->state, request->program, request->application);
        _exit(0);
    }
    if (!request->adopts) become_monitor(request, pidfd, seating, &attached, &counters);
    pid_t self = getpid();
    if (fork() == 0) {
        // If the native half were killed, the application would adopt Python: so Python ends, too.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != self) _exit(0);
        become_monitor(request, pidfd, seating, &attached, &counters);
    }
    close(seating);
    // Seating ends before the application: until then it would be a zombie.
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) continue;
    // Stays until the application ends, otherwise it would become the application's zombie itself.
    ended_within(pidfd, -1);
    _exit(0);
}

// Tries the monitor's later work while the launcher can still report a failure: the same system
// calls, with arguments that change nothing.
static void try_what_a_monitor_takes(const Options* options) {
    trying("close_range");
    syscall(SYS_close_range, ~0u, ~0u, 0);
    trying("poll");
    poll(NULL, 0, 0);
    trying("fcntl");
    fcntl(-1, F_GETFD);
    trying("chdir");
    if (chdir("") != 0) trying("umask");
    umask(umask(077));
    trying("sched_setscheduler");
    sched_setscheduler(0, -1, &(struct sched_param){.sched_priority = 0});
    if (options->bind_threads) {
        trying("sched_setaffinity");
        cpuset_set(-1, &(CpuSet){0});
    }
    if (options->migrate_pages) {
        trying("move_pages");
        syscall(SYS_move_pages, 0, 0ul, NULL, NULL, NULL, 0);
    }
}

// Forks the child of a child that ends at once. Where orphans of that child come back to the
// application, forks a sibling of it instead, without an exit signal, as it has none.
static pid_t fork_away(bool adopts) {
    return adopts ? (pid_t)syscall(SYS_clone, (unsigned long)CLONE_PARENT, NULL, NULL, NULL, 0)
                  : fork();
}

static bool failed(const char* what, char reason[REASON_CHARS]) {
    snprintf(reason, REASON_CHARS, "%s: %s", what, strerror(errno));
    return false;
}

bool start_monitor(const MonitorRequest* request, Attached* attached, char reason[REASON_CHARS]) {
    int ready[2] = {-1, -1};
    trying("perf_event_open");
    int refusal = hardware_refusal();
    trying("pidfd_open");
    int pidfd = (int)syscall(SYS_pidfd_open, request->application, 0);
    if (pidfd < 0) return failed("pidfd_open", reason);
    if (getppid() != request->application) {  // another process may have its number now
        errno = ESRCH;
        return failed("the program has ended", reason);
    }
    try_what_a_monitor_takes(request->options);
    trying("pipe2");
    if (!refusal && pipe2(ready, O_CLOEXEC) != 0) return failed("pipe", reason);
    trying("setsid");
    setsid();
    trying("fork");
    pid_t monitor = fork_away(request->adopts);
    if (monitor == 0) native_half(request, pidfd, ready[1], refusal);
    if (monitor < 0) return failed("fork", reason);
    if (refusal) {  // the answer is known without waiting for it
        Counters none;
        attach(request->application, refusal, attached, &none);
        return true;
    }
    close(ready[1]);
    attached->tier = -1;
    struct pollfd answer = {.fd = ready[0], .events = POLLIN};
    Attached got;
    if (poll(&answer, 1, ATTACH_WAIT_MS) == 1 && read(ready[0], &got, sizeof got) == sizeof got) {
        *attached = got;
    }
    return true;
}
