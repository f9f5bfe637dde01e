// The LLC domains of this machine: its shape where all parts of it are alike, and whether the CPUs
// that a run may use leave a choice. `policy/shipped.py` and `runtime/evidence.py` find the same.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

enum { MOST_SOCKETS = 1024, MOST_CACHES = 8, WORD_BITS = 8 * sizeof(unsigned long) };

// ---- files of sysfs -----------------------------------------------------------------------------
static bool read_cpus(const char* name, CpuSet* out) {
    char text[SYSFS_CHARS];
    sysfs_line(name, text);
    return cpuset_parse(text, out);
}

static long read_of_cpu(int cpu, const char* file, long otherwise) {
    char name[96], text[SYSFS_CHARS], *end;
    snprintf(name, sizeof name, "devices/system/cpu/cpu%d/%s", cpu, file);
    sysfs_line(name, text);
    long value = strtol(text, &end, 10);
    return end != text ? value : otherwise;
}

static bool read_cpus_of_cpu(int cpu, const char* file, CpuSet* out) {
    char name[96];
    snprintf(name, sizeof name, "devices/system/cpu/cpu%d/%s", cpu, file);
    return read_cpus(name, out);
}

static void keep_only(CpuSet* set, const CpuSet* others) {
    for (size_t i = 0; i < sizeof set->words / sizeof set->words[0]; i++) {
        set->words[i] &= others->words[i];
    }
}

static void add(CpuSet* set, const CpuSet* others) {
    for (size_t i = 0; i < sizeof set->words / sizeof set->words[0]; i++) {
        set->words[i] |= others->words[i];
    }
}

// The next CPU of the set from `cpu` on; CPU_LIMIT: there is none.
static int next_cpu(const CpuSet* set, int cpu) {
    while (cpu < CPU_LIMIT) {
        unsigned long rest = set->words[cpu / WORD_BITS] >> (cpu % WORD_BITS);
        if (rest) return cpu + __builtin_ctzl(rest);
        cpu += WORD_BITS - cpu % WORD_BITS;
    }
    return CPU_LIMIT;
}

static void add_cpu(CpuSet* set, int cpu) {
    set->words[cpu / WORD_BITS] |= 1ul << (cpu % WORD_BITS);
}

static void only(CpuSet* out, int cpu) {
    memset(out, 0, sizeof *out);
    add_cpu(out, cpu);
}

// CPUs that run, according to `online` and their own files (`linux/online.py`).
static void running(const CpuSet* mask, CpuSet* out) {
    static CpuSet listed;
    const char* root = sysfs_root();
    char path[PATH_MAX];
    if (!read_cpus("devices/system/cpu/online", &listed)) memset(&listed, 0, sizeof listed);
    memset(out, 0, sizeof *out);
    for (int cpu = next_cpu(&listed, 0); cpu < CPU_LIMIT; cpu = next_cpu(&listed, cpu + 1)) {
        // A listed CPU without a folder is another machine's, as a container may show it.
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d", root, cpu);
        if (access(path, F_OK) != 0) continue;
        add_cpu(out, cpu);
    }
    for (int cpu = next_cpu(mask, 0); cpu < CPU_LIMIT; cpu = next_cpu(mask, cpu + 1)) {
        if (cpuset_has(&listed, cpu)) continue;
        long own = read_of_cpu(cpu, "online", -1);
        snprintf(path, sizeof path, "%s/devices/system/cpu/cpu%d/topology", root, cpu);
        bool there = strcmp(root, "/sys") == 0 || access(path, F_OK) == 0;
        if (own < 0 ? !there : own == 0) continue;
        add_cpu(out, cpu);
    }
}

// ---- isolated CPUs ------------------------------------------------------------------------------
void balanced_cpus(const CpuSet* allowed, CpuSet* out) {
    // CPUs isolated at boot, and those of isolated partitions of cpusets.
    static const char* const files[] = {"devices/system/cpu/isolated",
                                        "fs/cgroup/cpuset.cpus.isolated"};
    static CpuSet isolated;
    *out = *allowed;
    for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
        if (!read_cpus(files[f], &isolated)) continue;
        for (size_t i = 0; i < sizeof out->words / sizeof out->words[0]; i++) {
            out->words[i] &= ~isolated.words[i];
        }
    }
    if (next_cpu(out, 0) == CPU_LIMIT) *out = *allowed;
}

// ---- nodes --------------------------------------------------------------------------------------
typedef struct {
    int size;  // CPUs
    CpuSet cpus;
} Node;

typedef struct {
    bool read;   // once
    bool known;  // the kernel lists them
    int count;
    Node* nodes;
} Nodes;

static int count_cpus(const CpuSet* set) {
    int count = 0;
    for (int cpu = next_cpu(set, 0); cpu < CPU_LIMIT; cpu = next_cpu(set, cpu + 1)) count++;
    return count;
}

// Nodes that are online, with their running CPUs.
static const Nodes* nodes_here(const CpuSet* online) {
    static Nodes here;
    static CpuSet listed;
    char name[96];
    if (here.read) return &here;
    here.read = true;
    if (!read_cpus("devices/system/node/online", &listed)) return &here;
    here.known = true;
    here.nodes = calloc((size_t)count_cpus(&listed), sizeof *here.nodes);
    if (!here.nodes) return &here;
    for (int node = next_cpu(&listed, 0); node < CPU_LIMIT; node = next_cpu(&listed, node + 1)) {
        Node* read = &here.nodes[here.count];
        snprintf(name, sizeof name, "devices/system/node/node%d/cpulist", node);
        if (!read_cpus(name, &read->cpus)) continue;
        keep_only(&read->cpus, online);
        read->size = count_cpus(&read->cpus);
        here.count++;
    }
    return &here;
}

// The node of a CPU: of its nodes the one of the fewest CPUs; NULL: it is in none.
static const Node* node_of(int cpu, const CpuSet* online) {
    const Nodes* here = nodes_here(online);
    const Node* found = NULL;
    for (const Node* node = here->nodes; node < here->nodes + here->count; node++) {
        if (cpuset_has(&node->cpus, cpu) && (!found || node->size < found->size)) found = node;
    }
    return found;
}

// Leaves the part of a cache that is in the node of a CPU; the whole cache where one of its CPUs is
// in no node.
static void part_in_node(int cpu, const CpuSet* online, CpuSet* cache) {
    static CpuSet part;
    const Node* own = node_of(cpu, online);
    memset(&part, 0, sizeof part);
    for (int other = next_cpu(cache, 0); other < CPU_LIMIT; other = next_cpu(cache, other + 1)) {
        const Node* node = node_of(other, online);
        if (!node) return;
        if (node == own) add_cpu(&part, other);
    }
    *cache = part;
}

// The running CPUs under the outermost data or unified cache of a CPU, and its level; -1: it has
// none.
static long last_level(int cpu, const CpuSet* online, CpuSet* out) {
    char file[64], name[128], type[SYSFS_CHARS];
    long outermost = -1;
    for (int index = 0; index < MOST_CACHES; index++) {
        snprintf(file, sizeof file, "cache/index%d/level", index);
        long level = read_of_cpu(cpu, file, -1);
        snprintf(name, sizeof name, "devices/system/cpu/cpu%d/cache/index%d/type", cpu, index);
        if (level <= outermost) continue;
        sysfs_line(name, type);
        if (strcmp(type, "Data") != 0 && strcmp(type, "Unified") != 0) continue;
        snprintf(file, sizeof file, "cache/index%d/shared_cpu_list", index);
        if (!read_cpus_of_cpu(cpu, file, out)) only(out, cpu);
        outermost = level;
    }
    keep_only(out, online);
    return outermost;
}

static void core_of(int cpu, const CpuSet* online, CpuSet* out) {
    if (!read_cpus_of_cpu(cpu, "topology/core_cpus_list", out) &&
        !read_cpus_of_cpu(cpu, "topology/thread_siblings_list", out)) {
        only(out, cpu);
    }
    keep_only(out, online);
    add_cpu(out, cpu);
}

// Whether a CPU has no cache beyond an L1 or L2 of its core; else the running CPUs under its last
// cache, too.
static bool has_no_llc(int cpu, const CpuSet* online, CpuSet* llc) {
    static CpuSet core;
    long level = last_level(cpu, online, llc);
    if (level < 0) return true;
    core_of(cpu, online, &core);
    return level < 3 && cpuset_within(llc, &core);
}

static long package_of(int cpu) { return read_of_cpu(cpu, "topology/physical_package_id", -1); }

// The running CPUs of an LLC domain: those under the last cache of a CPU, in its node; where it has
// none, all of its package and node that have none either (linux/machine_tree.py).
static void domain_of(int cpu, const CpuSet* online, CpuSet* out) {
    static CpuSet near, llc;
    if (!has_no_llc(cpu, online, out)) {
        part_in_node(cpu, online, out);
        return;
    }
    const Node* node = node_of(cpu, online);
    const long package = package_of(cpu);
    near = node ? node->cpus : *online;
    memset(out, 0, sizeof *out);
    for (int other = next_cpu(&near, 0); other < CPU_LIMIT; other = next_cpu(&near, other + 1)) {
        if (node_of(other, online) == node && package_of(other) == package &&
            has_no_llc(other, online, &llc)) {
            add_cpu(out, other);
        }
    }
}

// ---- the shape ----------------------------------------------------------------------------------
// Cores of a last-level cache, whose CPUs become `seen`.
static int cores_within(const CpuSet* cache, const CpuSet* online, CpuSet* seen) {
    static CpuSet core;
    int cores = 0;
    for (int cpu = next_cpu(cache, 0); cpu < CPU_LIMIT; cpu = next_cpu(cache, cpu + 1)) {
        if (cpuset_has(seen, cpu)) continue;
        core_of(cpu, online, &core);
        add(seen, &core);
        cores++;
    }
    return cores;
}

// Nodes that have CPUs; 0: some CPU is in none.
static int count_nodes(const CpuSet* online) {
    static CpuSet all;
    const Nodes* here = nodes_here(online);
    if (!here->known) return 1;
    memset(&all, 0, sizeof all);
    int count = 0;
    for (const Node* node = here->nodes; node < here->nodes + here->count; node++) {
        if (!node->size) continue;
        add(&all, &node->cpus);
        count++;
    }
    return cpuset_within(online, &all) ? count : 0;
}

bool machine_shape(Shape* out) {
    static CpuSet mask, online, seen, cache;
    static struct {
        long package;
        int llcs;
    } sockets[MOST_SOCKETS];
    *out = (Shape){0};
    memset(&seen, 0, sizeof seen);
    if (!cpuset_get(&mask)) return false;
    running(&mask, &online);
    for (int cpu = next_cpu(&online, 0); cpu < CPU_LIMIT; cpu = next_cpu(&online, cpu + 1)) {
        if (cpuset_has(&seen, cpu)) continue;
        domain_of(cpu, &online, &cache);
        int cores = cores_within(&cache, &online, &seen);
        if (!cpuset_has(&seen, cpu)) return false;  // the list of its own cache lacks it
        if (out->cores_per_llc && out->cores_per_llc != cores) return false;
        out->cores_per_llc = cores;
        long package = package_of(cpu);
        int at = 0;
        while (at < out->sockets && sockets[at].package != package) at++;
        if (at == MOST_SOCKETS) return false;
        if (at == out->sockets) {
            sockets[at].package = package;
            sockets[at].llcs = 0;
            out->sockets++;
        }
        sockets[at].llcs++;
    }
    for (int i = 0; i < out->sockets; i++) {
        if (sockets[i].llcs != sockets[0].llcs) return false;
    }
    out->nodes = count_nodes(&online);
    out->llcs_per_socket = sockets[0].llcs;
    return out->sockets > 0 && out->nodes > 0;
}

// ---- what there is to choose --------------------------------------------------------------------
// Whether these CPUs are of kinds that `kinds_of_cores` of linux/sysfs_topology.py distinguishes.
static bool of_several_kinds(const CpuSet* cpus) {
    static const char* const types[] = {"devices/cpu_lowpower/cpus", "devices/cpu_atom/cpus",
                                        "devices/cpu_core/cpus"};
    static const char* const speeds[] = {"cpu_capacity", "cpufreq/cpuinfo_max_freq"};
    static const double same = 0.9;  // least share of the largest for the same kind
    static CpuSet type;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (read_cpus(types[i], &type) && cpuset_overlap(&type, cpus)) {
            if (!cpuset_within(cpus, &type)) return true;
        }
    }
    for (size_t i = 0; i < sizeof speeds / sizeof speeds[0]; i++) {
        int cpu = next_cpu(cpus, 0);
        long least = read_of_cpu(cpu, speeds[i], 0), most = least;
        if (least == 0) continue;  // a machine without such files has none for any CPU
        while ((cpu = next_cpu(cpus, cpu + 1)) < CPU_LIMIT) {
            long value = read_of_cpu(cpu, speeds[i], least);
            least = value < least ? value : least;
            most = value > most ? value : most;
        }
        if ((double)least < same * (double)most) return true;
    }
    return false;
}

bool hinting_is_on(void) {
    char text[16] = "";
    int fd = open("/proc/sys/kernel/numa_balancing", O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 && (strtol(text, NULL, 10) & 1);
}

// Whether these CPUs are of one node, and no two of them of one LLC domain. Packages share none.
static bool share_no_cache(const CpuSet* cpus, const CpuSet* online, bool one_package) {
    static CpuSet domain;
    const Node* node = node_of(next_cpu(cpus, 0), online);
    for (int cpu = next_cpu(cpus, 0); cpu < CPU_LIMIT; cpu = next_cpu(cpus, cpu + 1)) {
        if (node_of(cpu, online) != node) return false;
        if (!one_package) continue;
        domain_of(cpu, online, &domain);
        keep_only(&domain, cpus);
        if (count_cpus(&domain) > 1) return false;
    }
    return true;
}

// Number of packages that these CPUs are of; 0: some share one, and others do not.
static int even_packages(const CpuSet* cpus) {
    static long seen[MOST_SOCKETS];
    int packages = 0, count = 0;
    for (int cpu = next_cpu(cpus, 0); cpu < CPU_LIMIT; cpu = next_cpu(cpus, cpu + 1)) {
        long package = package_of(cpu);
        int at = 0;
        while (at < packages && seen[at] != package) at++;
        if (at == MOST_SOCKETS) return 0;
        if (at == packages) seen[packages++] = package;
        count++;
        if (packages > 1 && packages < count) return 0;  // at once: each CPU takes a read
    }
    return packages;
}

const char* nothing_to_choose(const CpuSet* allowed) {
    static CpuSet online, cpus, domain;
    running(allowed, &online);
    cpus = *allowed;
    keep_only(&cpus, &online);
    int first = next_cpu(&cpus, 0);
    if (first == CPU_LIMIT) return NULL;
    int packages = even_packages(&cpus);
    if (!packages) return NULL;
    bool one_package = packages == 1, one = false;
    if (one_package) {
        domain_of(first, &online, &domain);
        one = cpuset_within(&cpus, &domain);
    }
    if (!one && !share_no_cache(&cpus, &online, one_package)) return NULL;
    if (of_several_kinds(&cpus)) return NULL;
    return one ? "one LLC domain is allowed, so there is nothing to choose"
               : "no two allowed CPUs share a cache, so there is nothing to choose";
}
