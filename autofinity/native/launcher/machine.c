// Names the machine by everything that its core sets depend on: nodes of a cluster share home
// directories, and a decision made on one kind of node has another meaning on another kind.
// `linux/machine_key.py` makes the same key.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher.h"

const char* sysfs_root(void) {
    const char* root = getenv("AUTOFINITY_SYSFS");
    return root && *root ? root : "/sys";
}

void sysfs_line(const char* name, char out[SYSFS_CHARS]) {
    char path[PATH_MAX];
    out[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s", sysfs_root(), name) >= PATH_MAX) return;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return;
    ssize_t got = read(fd, out, SYSFS_CHARS - 1);
    close(fd);
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static void add_line(Sha256* hash, const char* text) { sha256_add(hash, text, strlen(text) + 1); }

void machine_key(char out[MACHINE_CHARS + 1]) {
    char text[SYSFS_CHARS], name[96], digest[DIGEST_CHARS + 1];
    Sha256 hash;
    sha256_init(&hash);
    sysfs_line("devices/system/cpu/modalias", text);
    char* features = strstr(text, ":feature:");  // they change with the kernel
    if (features) *features = '\0';
    add_line(&hash, text);
    sysfs_line("devices/system/cpu/present", text);
    add_line(&hash, text);
    sysfs_line("devices/system/cpu/cpu0/cache/index3/shared_cpu_list", text);
    add_line(&hash, text);
    CpuSet nodes;
    sysfs_line("devices/system/node/online", text);
    if (cpuset_parse(text, &nodes)) {
        for (int node = 0; node < CPU_LIMIT; node++) {
            if (!cpuset_has(&nodes, node)) continue;
            snprintf(name, sizeof name, "devices/system/node/node%d/cpulist", node);
            sysfs_line(name, text);
            add_line(&hash, text);
        }
    }
    sha256_hex(&hash, digest);
    memcpy(out, digest, MACHINE_CHARS);
    out[MACHINE_CHARS] = '\0';
}
