// Hints: letters, which files keep, and names, which people use. Twin of
// `autofinity/model/affinity.py`.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "launcher.h"

static const struct {
    char letters[4];
    const char* name;
} NAMES[] = {
#define HINT_ROW(letters, name) {#letters, name},
    EACH_HINT(HINT_ROW)
#undef HINT_ROW
};
enum { HINT_COUNT = sizeof NAMES / sizeof NAMES[0] };

bool is_hint(const char* letters) {
    for (size_t i = 0; i < HINT_COUNT; i++) {
        if (strcmp(letters, NAMES[i].letters) == 0) return true;
    }
    return false;
}

const char* hint_letters(const char* text) {
    for (size_t i = 0; i < HINT_COUNT; i++) {
        if (strcmp(text, NAMES[i].letters) == 0 || strcasecmp(text, NAMES[i].name) == 0) {
            return NAMES[i].letters;
        }
    }
    return NULL;
}

const char* hint_shown(const char* letters) {
    static char shown[64];
    for (size_t i = 0; i < HINT_COUNT; i++) {
        if (strcmp(letters, NAMES[i].letters) != 0) continue;
        snprintf(shown, sizeof shown, "%s (%s)", NAMES[i].name, NAMES[i].letters);
        return shown;
    }
    return letters;
}
