// Files and URLs of sites' databases, as --db and AUTOFINITY_SITE_DB name them. The package
// distinguishes them by the same rules (`store/site_address.py`); a table of cases asks both.
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "launcher.h"

bool is_site(const char* text) {
    return text &&
           (strncmp(text, "postgresql://", 13) == 0 || strncmp(text, "postgres://", 11) == 0);
}

bool is_other_url(const char* text) {
    static const char SCHEME[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._:";
    if (is_site(text)) return false;
    text += strspn(text, " \t\r\n'\"");
    const char* colon = strstr(text, "://");
    bool named = colon && text + strspn(text, SCHEME) >= colon;
    size_t length = strncasecmp(text, "postgresql", 10) == 0 ? 10 : 8;
    bool postgres = strncasecmp(text, "postgres", 8) == 0 &&
                    (text[length] == ':' || strncasecmp(text + length, "%3a", 3) == 0);
    return named || postgres || strcasestr(text, "password=");
}

const char* taken_from_sight(char* argument) {
    static char kept[4096];
    size_t length = strlen(argument);
    if (length >= sizeof kept) return NULL;
    memcpy(kept, argument, length + 1);
    memset(strstr(argument, "://") + 3, '*', length - (size_t)(strstr(kept, "://") + 3 - kept));
    return kept;
}

const char* site_url(const Options* options) {
    if (options->site) return options->site;
    const char* set = options->db ? NULL : getenv(SITE_VARIABLE);
    return is_site(set) ? set : "";
}
