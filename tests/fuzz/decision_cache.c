// Any bytes in the decision cache's place: the launcher finds a decision in them that these CPUs
// allow, or none, and seats of threads on these CPUs.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/launcher.h"

// Every second input begins as the cache does: else nearly all of them end there.
static void fill(int file, const uint8_t* data, size_t size) {
    static const char head[] = "autofinity-decisions 3\n";
    static const char subject[] = "\nkey 2 digest llc ";
    if (ftruncate(file, 0) != 0 || lseek(file, 0, SEEK_SET) != 0) abort();
    if (size > 0 && (data[0] & 1)) {
        char machine[MACHINE_CHARS + 1];
        machine_key(machine);
        if (dprintf(file, "%s%s%s ", head, subject + (data[0] >> 1 & 1), machine) < 0) abort();
        data++;
        size--;
    }
    if (write(file, data, size) != (ssize_t)size) abort();
}

static State* ours;

static void tidy(void) {
    unlink(ours->decisions);
    *strrchr(ours->decisions, '/') = '\0';
    rmdir(ours->decisions);
}

// The cache, in a folder of its own that goes when the process ends; where it is killed, with
// TMPDIR.
static int made(State* state) {
    const char* where = getenv("TMPDIR");
    char folder[sizeof state->db - sizeof "/behaviour.db"];
    const int length =
        snprintf(folder, sizeof folder, "%s/autofinity-fuzz-XXXXXX", where ? where : "/tmp");
    if (length < 0 || (size_t)length >= sizeof folder || !mkdtemp(folder)) abort();
    snprintf(state->db, sizeof state->db, "%s/behaviour.db", folder);
    snprintf(state->decisions, sizeof state->decisions, "%s/decisions", folder);
    ours = state;
    atexit(tidy);
    const int file = open(state->decisions, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0) abort();
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static State state;
    static int file = -1;
    if (file < 0) file = made(&state);
    fill(file, data, size);
    CpuSet allowed;
    if (!cpuset_parse("0-3", &allowed)) abort();
    Known known;
    memset(&known, 0, sizeof known);
    if (!find_decision(&state, "key", 2, "digest", "llc", &allowed, &known)) return 0;
    if (strlen(known.hint) != 3 || !known.list[0] || cpuset_count(&known.set) < 2) abort();
    for (int cpu = 4; cpu < 4096; cpu++)
        if (cpuset_has(&known.set, cpu)) abort();
    CpuSet seat;
    for (int number = 0; number < known.seated; number++)
        if (!seat_of(known.seats, number, &seat) || !cpuset_within(&seat, &allowed)) abort();
    return 0;
}
