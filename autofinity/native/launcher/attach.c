// The upper half of the capability ladder, tried on the application itself just before it starts:
// hardware counters opened here are inherited by its threads and children and begin with its exec.
//
// Facts (measured): without a PMU every hardware event gives ENOENT at once; unprivileged counting
// that includes the kernel gives EACCES, so it is excluded; `inherit` reads as a sum over the
// threads, so these are the run's totals, and the monitor opens per-thread events itself. The first
// per-task event of the whole system waits for an RCU grace period (10-20 ms, then none for a
// second). So no event is opened here that can be read from /proc, as software events can (CPU
// time, faults, context switches).
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

#define DEVICES "/sys/bus/event_source/devices"

typedef struct {
    const char* name;  // neutral name, as in the policy
    uint32_t type;
    uint64_t config;
} Event;

static const Event HARDWARE[] = {
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
};
const char* tier_name(int tier) {
    static const char* const names[] = {"memory sampling", "hardware counters", "software events",
                                        "page-fault sampling", "topology only"};
    return tier >= 0 && tier <= TIER_TOPOLOGY ? names[tier] : "unknown";
}

static int open_event(struct perf_event_attr* attr, pid_t pid, int group) {
    return (int)syscall(SYS_perf_event_open, attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);
}

// Opens `events` as one group. Returns 0 or errno of the first that the kernel refused; a group
// that does not fit as a whole is kept as far as it fits.
static int open_group(const Event* events, int count, pid_t pid, Counters* out) {
    int leader = -1;
    for (int i = 0; i < count && out->count < MAX_EVENTS; i++) {
        struct perf_event_attr attr = {
            .type = events[i].type,
            .size = sizeof attr,
            .config = events[i].config,
            .read_format =
                PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
            .inherit = 1,
            .exclude_kernel = 1,
            .exclude_hv = 1,
        };
        if (leader < 0) {
            attr.disabled = 1;
            attr.enable_on_exec = 1;
        }
        int fd = open_event(&attr, pid, leader);
        if (fd < 0) return leader < 0 ? errno : 0;
        if (leader < 0) leader = fd;
        out->fds[out->count] = fd;
        out->names[out->count++] = events[i].name;
    }
    return 0;
}

bool has_memory_pmu(const char* devices) {
    static const char* const names[] = {"ibs_op", "arm_spe_0", "cpu/events/mem-loads",
                                        "cpu_core/events/mem-loads"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", devices, names[i]);
        if (access(path, F_OK) == 0) return true;
    }
    return false;
}

// On a machine of two core kinds a generic event counts on the first kind alone.
static bool two_core_kinds(void) { return access(DEVICES "/cpu_atom", F_OK) == 0; }

int hardware_refusal(void) {
    // An event that no kernel can grant: it asks for output to an AUX leader and has no leader. The
    // kernel checks this after the permissions and after the PMU, and before anything is set up.
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_HW_CPU_CYCLES,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .aux_output = 1,
    };
    int fd = open_event(&attr, 0, -1);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    return errno == ENOENT || errno == EACCES || errno == EPERM || errno == ENOSYS ? errno : 0;
}

void attach(pid_t pid, int refusal, Attached* out, Counters* counters) {
    *counters = (Counters){.count = 0};
    *out = (Attached){.tier = TIER_TOPOLOGY, .memory_pmu = has_memory_pmu(DEVICES)};
    int count = sizeof HARDWARE / sizeof HARDWARE[0];
    out->hardware_errno = refusal ? refusal : open_group(HARDWARE, count, pid, counters);
    if (two_core_kinds()) detach(counters);  // no totals are better than those of half the cores
    out->software_errno = access("/proc/self/stat", R_OK) == 0 ? 0 : errno;
    // Memory sampling shows which threads share with which; no policy is learned from it, so none
    // decides by it.
    if (!out->hardware_errno) {
        out->tier = TIER_HARDWARE;
    } else if (!out->software_errno) {
        out->tier = TIER_SOFTWARE;
    }
}

void detach(Counters* counters) {
    for (int i = 0; i < counters->count; i++) close(counters->fds[i]);
    counters->count = 0;
}

static const char* meaning(int error) {
    switch (error) {
        case ENOENT:
            return "this machine shows no PMU";
        case EACCES:
        case EPERM:
            return "not permitted, see kernel.perf_event_paranoid and seccomp";
        case EOPNOTSUPP:
        case ENODEV:
            return "not supported by this PMU";
        case EINVAL:
            return "the kernel does not know this event";
        case EMFILE:
            return "too many open files";
        case ENOSYS:
            return "the kernel has no perf events";
        case EBUSY:
            return "the counters are taken";
        default:
            return strerror(error);
    }
}

static const char* errno_name(int error) {
    static const struct {
        int error;
        const char* name;
    } names[] = {{ENOENT, "ENOENT"}, {EACCES, "EACCES"},         {EPERM, "EPERM"},
                 {ENODEV, "ENODEV"}, {EOPNOTSUPP, "EOPNOTSUPP"}, {EINVAL, "EINVAL"},
                 {EMFILE, "EMFILE"}, {ENOSYS, "ENOSYS"},         {EBUSY, "EBUSY"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error == error) return names[i].name;
    }
    return "errno";
}

void explain_ladder(const Attached* attached, char* out, size_t size) {
    size_t used = 0;
    int wanted = snprintf(
        out, size, "no memory sampling: %s",
        attached->memory_pmu ? "it shows sharing, which no policy needs" : "no PMU here has it");
    const struct {
        const char* what;
        int error;
    } steps[] = {{"hardware counters", attached->hardware_errno},
                 {"software events", attached->software_errno}};
    for (size_t i = 0; i < 2 && wanted > 0 && used + (size_t)wanted < size; i++) {
        used += (size_t)wanted;
        wanted = 0;
        if (!steps[i].error) break;
        wanted = snprintf(out + used, size - used, "; no %s: %s, %s", steps[i].what,
                          errno_name(steps[i].error), meaning(steps[i].error));
    }
}
