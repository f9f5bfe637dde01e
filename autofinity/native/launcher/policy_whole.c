// Checks that a policy file is whole: every text, list and object in it ends. A file that was cut
// off while it was copied is refused before the program starts; all else the monitor checks.
#include "launcher.h"

enum { DEEPEST = 64 };

// Where a text ends that begins at `at`: at its last quote, or at `end`.
static const char* end_of_text(const char* at, const char* end) {
    for (; at < end && *at != '"'; at++) {
        if (*at == '\\') at++;
    }
    return at < end ? at : end;
}

int broken_line(const char* content, size_t bytes) {
    char open[DEEPEST];
    int depth = 0, line = 1;
    const char *at = content, *end = content + bytes;
    for (; at < end; at++) {
        if (*at == '\n') line++;
        if (*at == '"' && (at = end_of_text(at + 1, end)) == end) return line;
        if (*at == '{' || *at == '[') {
            if (depth == DEEPEST) return 0;  // the monitor's to judge
            open[depth++] = *at == '{' ? '}' : ']';
        } else if ((*at == '}' || *at == ']') && (depth == 0 || open[--depth] != *at)) {
            return line;
        }
    }
    return depth == 0 ? 0 : line;
}
