// Times the region of interest, for scripts/tools/footprints.py: preloaded alone into a plain
// build, or with what counts in the place of a capture's runtime. Figures go to the file that
// FOOTPRINT_FILE names, a line for each.
#include "region.h"

#include <stdlib.h>
#include <time.h>

volatile int counted_in_region;

static double began_s, began_cpu_s, region_s, region_cpu_s;

static double now_s(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((visibility("default"))) void autofinity_roi_begin(void) {
    began_s = now_s(CLOCK_MONOTONIC);
    began_cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
    counted_in_region = 1;
}

__attribute__((visibility("default"))) void autofinity_roi_end(void) {
    counted_in_region = 0;
    region_s = now_s(CLOCK_MONOTONIC) - began_s;
    region_cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - began_cpu_s;
}

__attribute__((destructor)) static void report(void) {
    const char* const path = getenv("FOOTPRINT_FILE");
    FILE* const to = path == NULL ? NULL : fopen(path, "w");
    if (to == NULL) return;
    fprintf(to, "region_s %.6f\nregion_cpu_s %.6f\n", region_s, region_cpu_s);
    if (counted_report) counted_report(to);
    fclose(to);
}
