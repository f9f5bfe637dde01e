// Devices and the NUMA nodes that they hang on, from sysfs: for --near.
// `linux/sysfs_devices.py` and `linux/pci_classes.py` find the same ones.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "launcher.h"

enum { ADDRESS_CHARS = 24, MOST_GPUS = 1024 };

// In the order in which a name is looked up.
static const char* const CLASSES[] = {"net", "infiniband", "drm", "accel", "nvme", "block"};
enum { CLASS_COUNT = sizeof CLASSES / sizeof CLASSES[0] };

// Node of the first folder around `hardware` (a real path) that knows it.
static int node_around(const char* hardware) {
    char top[PATH_MAX], path[PATH_MAX], name[PATH_MAX + 16], text[SYSFS_CHARS];
    if (!realpath(sysfs_root(), top)) return NODE_UNKNOWN;
    size_t length = strlen(top);
    snprintf(path, sizeof path, "%s", hardware);
    while (strncmp(path, top, length) == 0 && path[length] == '/') {
        snprintf(name, sizeof name, "%s/numa_node", path + length + 1);
        sysfs_line(name, text);
        char* end;
        long node = strtol(text, &end, 10);
        if (end != text && node >= 0 && node < CPU_LIMIT) return (int)node;
        *strrchr(path, '/') = '\0';
    }
    return NODE_UNKNOWN;
}

static bool is_folder(const char* path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// Path of the hardware that a member of a class drives; false: no device.
static bool hardware_of(const char* class, const char* name, char out[PATH_MAX]) {
    char path[PATH_MAX];
    if (name[0] == '.' || !name[0] || strchr(name, '/')) return false;
    if (strcmp(class, "drm") == 0 && strchr(name, '-')) return false;  // a connector
    int wanted = snprintf(path, sizeof path, "%s/class/%s/%s/device", sysfs_root(), class, name);
    return wanted < PATH_MAX && is_folder(path) && realpath(path, out);
}

static unsigned long number_of(const char* address, const char* file) {
    char name[PATH_MAX], text[SYSFS_CHARS];
    snprintf(name, sizeof name, "bus/pci/devices/%s/%s", address, file);
    sysfs_line(name, text);
    return strtoul(text, NULL, 16);
}

// Whether a VGA controller only shows a console: of a service processor or a virtual machine.
static bool shows_consoles(unsigned long vendor, unsigned long device) {
    static const unsigned long vendors[] = {0x1a03, 0x102b, 0x1013, 0x1234, 0x1414,
                                            0x15ad, 0x1af4, 0x1b36, 0x80ee};
    for (size_t i = 0; i < sizeof vendors / sizeof vendors[0]; i++) {
        if (vendor == vendors[i]) return true;
    }
    return vendor == 0x1002 && device == 0x515e;
}

typedef enum { NOT_DRIVEN, A_GPU, ANOTHER_KIND } Kind;

static Kind kind_of(const char* address) {
    unsigned long class = number_of(address, "class") >> 8, base = class >> 8;
    unsigned long vendor = number_of(address, "vendor");
    if (base == 0x03) {
        bool console = class == 0x0300 && shows_consoles(vendor, number_of(address, "device"));
        return console ? ANOTHER_KIND : A_GPU;
    }
    if (base == 0x12) return vendor == 0x1002 ? A_GPU : ANOTHER_KIND;
    bool driven = base == 0x01 || base == 0x02 || class == 0x0b40 || class == 0x0c06;
    return driven ? ANOTHER_KIND : NOT_DRIVEN;
}

// A PCI address in the form of sysfs, which may lack the domain 0000 and be in any case.
static bool read_address(const char* text, char out[ADDRESS_CHARS]) {
    unsigned domain, bus, device, function;
    int read = 0;
    size_t length = strlen(text);
    if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function, &read) != 4 ||
        (size_t)read != length) {
        domain = 0;
        read = 0;
        if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function, &read) != 3 ||
            (size_t)read != length) {
            return false;
        }
    }
    snprintf(out, ADDRESS_CHARS, "%04x:%02x:%02x.%x", domain, bus, device, function);
    size_t whole = strlen(out);
    return length <= whole && strcasecmp(out + (whole - length), text) == 0;
}

static int by_address(const void* a, const void* b) {
    const char *one = a, *other = b;
    size_t length = strlen(one), others = strlen(other);  // a longer domain is a larger one
    return length == others ? strcmp(one, other) : length < others ? -1 : 1;
}

// Addresses of the GPUs, in their order.
static int find_gpus(char found[MOST_GPUS][ADDRESS_CHARS]) {
    char path[PATH_MAX], address[ADDRESS_CHARS];
    snprintf(path, sizeof path, "%s/bus/pci/devices", sysfs_root());
    DIR* folder = opendir(path);
    int count = 0;
    for (struct dirent* entry; folder && count < MOST_GPUS && (entry = readdir(folder));) {
        if (read_address(entry->d_name, address) && strcmp(address, entry->d_name) == 0 &&
            kind_of(address) == A_GPU) {
            memcpy(found[count++], address, ADDRESS_CHARS);
        }
    }
    if (folder) closedir(folder);
    qsort(found, (size_t)count, ADDRESS_CHARS, by_address);
    return count;
}

static int node_of_address(const char* address) {
    char path[PATH_MAX], hardware[PATH_MAX];
    snprintf(path, sizeof path, "%s/bus/pci/devices/%s", sysfs_root(), address);
    return realpath(path, hardware) ? node_around(hardware) : NO_DEVICE;
}

int device_node(const char* name) {
    static char gpus[MOST_GPUS][ADDRESS_CHARS];
    char hardware[PATH_MAX], address[ADDRESS_CHARS], alias[16];
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        if (!hardware_of(CLASSES[i], name, hardware)) continue;
        return node_around(hardware);
    }
    int count = find_gpus(gpus);
    for (int i = 0; i < count; i++) {
        snprintf(alias, sizeof alias, "gpu%d", i);
        if (strcmp(alias, name) == 0) return node_of_address(gpus[i]);
    }
    if (!read_address(name, address) || kind_of(address) == NOT_DRIVEN) return NO_DEVICE;
    return node_of_address(address);
}

static void add_name(char* out, size_t size, const char* name) {
    size_t used = strlen(out);
    if (used + strlen(name) + 3 > size) return;
    snprintf(out + used, size - used, "%s%s", used ? ", " : "", name);
}

void device_names(char* out, size_t size) {
    static char gpus[MOST_GPUS][ADDRESS_CHARS];
    char path[PATH_MAX], alias[16];
    out[0] = '\0';
    int count = find_gpus(gpus);
    for (int i = 0; i < count; i++) {
        snprintf(alias, sizeof alias, "gpu%d", i);
        add_name(out, size, alias);
    }
    for (size_t i = 0; i < CLASS_COUNT; i++) {
        snprintf(path, sizeof path, "%s/class/%s", sysfs_root(), CLASSES[i]);
        DIR* folder = opendir(path);
        for (struct dirent* entry; folder && (entry = readdir(folder));) {
            if (hardware_of(CLASSES[i], entry->d_name, path)) add_name(out, size, entry->d_name);
        }
        if (folder) closedir(folder);
    }
}
