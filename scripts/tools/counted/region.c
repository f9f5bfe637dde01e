// Times the region of interest and how much memory the program has then, for scripts/tools/
// footprints.py: preloaded alone into a plain build, or with accesses.c in the place of a
// sanitizer's runtime. Figures go to the file that FOOTPRINT_FILE names, a line for each.
#include "region.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

volatile int counted_in_region;

static struct timespec began;
static double region_s;
static long begin_kib, end_kib;

static long peak_kib(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_maxrss;
}

__attribute__((visibility("default"))) void autofinity_roi_begin(void) {
    begin_kib = peak_kib();
    clock_gettime(CLOCK_MONOTONIC, &began);
    counted_in_region = 1;
}

__attribute__((visibility("default"))) void autofinity_roi_end(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    counted_in_region = 0;
    region_s = (double)(now.tv_sec - began.tv_sec) + 1e-9 * (double)(now.tv_nsec - began.tv_nsec);
    end_kib = peak_kib();
}

__attribute__((destructor)) static void report(void) {
    const char* const path = getenv("FOOTPRINT_FILE");
    FILE* const to = path == NULL ? NULL : fopen(path, "w");
    if (to == NULL) return;
    fprintf(to, "region_s %.6f\nbegin_kib %ld\nend_kib %ld\n", region_s, begin_kib, end_kib);
    if (counted_report) counted_report(to);
    fclose(to);
}
