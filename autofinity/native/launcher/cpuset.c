// CPU sets of any size: the kernel's mask by raw system calls (ids above 1023 do not fit
// cpu_set_t).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher.h"

enum { WORD_BITS = 8 * sizeof(unsigned long), WORDS = CPU_LIMIT / WORD_BITS };

bool cpuset_has(const CpuSet* set, int cpu) {
    return (set->words[cpu / WORD_BITS] >> (cpu % WORD_BITS)) & 1;
}

bool cpuset_of_thread(pid_t tid, CpuSet* out) {
    memset(out, 0, sizeof *out);
    return syscall(SYS_sched_getaffinity, tid, sizeof out->words, out->words) > 0;
}

bool cpuset_get(CpuSet* out) { return cpuset_of_thread(0, out); }

bool cpuset_set(pid_t pid, const CpuSet* set) {
    return syscall(SYS_sched_setaffinity, pid, sizeof set->words, set->words) == 0;
}

bool cpuset_parse(const char* list, CpuSet* out) {
    memset(out, 0, sizeof *out);
    while (true) {
        char* end;
        if (*list < '0' || *list > '9') return false;
        long first = strtol(list, &end, 10);
        long last = first;
        if (*end == '-') {
            if (end[1] < '0' || end[1] > '9') return false;
            last = strtol(end + 1, &end, 10);
        }
        if (first > last || last >= CPU_LIMIT) return false;
        for (long cpu = first; cpu <= last; cpu++) {
            out->words[cpu / WORD_BITS] |= 1ul << (cpu % WORD_BITS);
        }
        if (*end == '\0') return true;
        if (*end != ',') return false;
        list = end + 1;
    }
}

int cpuset_count(const CpuSet* set) {
    int count = 0;
    for (int i = 0; i < WORDS; i++) count += __builtin_popcountl(set->words[i]);
    return count;
}

bool cpuset_equal(const CpuSet* a, const CpuSet* b) { return memcmp(a, b, sizeof *a) == 0; }

bool cpuset_within(const CpuSet* inner, const CpuSet* outer) {
    for (int i = 0; i < WORDS; i++) {
        if (inner->words[i] & ~outer->words[i]) return false;
    }
    return true;
}

bool cpuset_overlap(const CpuSet* a, const CpuSet* b) {
    for (int i = 0; i < WORDS; i++) {
        if (a->words[i] & b->words[i]) return true;
    }
    return false;
}

bool cpuset_format(const CpuSet* set, char* out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (int cpu = 0; cpu < CPU_LIMIT; cpu++) {
        if (cpu % WORD_BITS == 0 && !set->words[cpu / WORD_BITS]) {
            cpu += WORD_BITS - 1;
            continue;
        }
        if (!cpuset_has(set, cpu)) continue;
        int last = cpu;
        while (last + 1 < CPU_LIMIT && cpuset_has(set, last + 1)) last++;
        int wanted = last > cpu
                         ? snprintf(out + used, size - used, "%s%d-%d", used ? "," : "", cpu, last)
                         : snprintf(out + used, size - used, "%s%d", used ? "," : "", cpu);
        if (wanted < 0 || (size_t)wanted >= size - used) return false;
        used += (size_t)wanted;
        cpu = last;
    }
    return used > 0;
}
