// The same addresses in every run: where a page lies decides its colour, and with it which lines
// push each other out of the caches; captures of one program would differ by it alone.
#include <stdlib.h>
#include <sys/personality.h>
#include <unistd.h>

#include "process.h"

#define MARK "AUTOFINITY_CAPTURE_FIXED"

// Starts the program again without address randomisation, once. Where the kernel or a container
// forbids it, the addresses stay as they are.
void af_fix_addresses(char** arguments) {
    if (getenv(MARK) != NULL) {
        unsetenv(MARK);
        return;
    }
    const int now = personality(0xffffffff);
    if (now == -1 || (now & ADDR_NO_RANDOMIZE) != 0) return;
    if (personality((unsigned long)now | ADDR_NO_RANDOMIZE) == -1) return;
    if (setenv(MARK, "1", 1) != 0) return;
    char program[4096];  // by its own path: it keeps its name in process lists
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0) {
        program[length] = 0;
        execv(program, arguments);
    }
    unsetenv(MARK);
}
