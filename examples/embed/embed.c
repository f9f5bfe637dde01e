/* Asks a learned policy from C: give one value for each counter, get the hint.
 *
 *     autofinity export policy.json --format c -o policy.h
 *     cc -std=c99 -I. examples/embed/embed.c -o embed && ./embed     # names the counters
 *
 * Values are counts per thread and second; "nan" says that a counter was not measured. The answer
 * is that of the first look. A runtime also asks autofinity_asks_second, where the header has it:
 * the comments there say how to look again.
 */
#include <stdio.h>
#include <stdlib.h>

#include "policy.h"

static const char* const hint_names[] = {"SLP", "SLp", "SlP", "Slp", "sLP", "sLp", "slP", "slp"};

int main(int argc, char** argv) {
    double sample[autofinity_counter_count + 1];
    if (argc != autofinity_counter_count + 1) {
        fprintf(stderr, "%s: got %d values, expected %d values:", argv[0], argc - 1,
                (int)autofinity_counter_count);
        for (const char* const* name = autofinity_counters(); *name; name++)
            fprintf(stderr, " %s", *name);
        fputc('\n', stderr);
        return 2;
    }
    for (int i = 0; i < argc - 1; i++) {
        char* end;
        sample[i] = strtod(argv[i + 1], &end);
        if (end == argv[i + 1] || *end) {
            fprintf(stderr, "%s: '%s' is no number\n", argv[0], argv[i + 1]);
            return 2;
        }
        printf("%s = %g\n", autofinity_counters()[i], sample[i]);
    }
    int rule = autofinity_rule(sample);
    const char* hint = hint_names[autofinity_decide(sample)];
    if (rule < 0)
        printf("%s by default\n", hint);
    else
        printf("%s by rule %d of %d\n", hint, rule + 1, (int)autofinity_rule_count);
    return 0;
}
