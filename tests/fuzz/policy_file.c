// Any bytes in a policy's place: the launcher takes the file or says why not, before the program
// runs.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launcher/launcher.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const int file = memfd_create("policy", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    char path[64], digest[DIGEST_CHARS + 1], reason[REASON_CHARS] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    memset(digest, 0, sizeof digest);
    enum Asks asks = ASKS_NOTHING;
    const bool good = check_policy_file(path, digest, &asks, reason);
    close(file);
    if (good ? strlen(digest) != DIGEST_CHARS : reason[0] == '\0') abort();
    if (asks > ASKS_HARDWARE) abort();
    return 0;
}
