// Interface of the region of interest to a counter, if the library has one.
#ifndef COUNTED_REGION_H
#define COUNTED_REGION_H

#include <stdio.h>

// Whether the program is in its region; set between the first mark and the last.
extern volatile int counted_in_region;

// Writes a counter's figures at the end of the program; absent from the library that only takes
// the time.
extern void counted_report(FILE* to) __attribute__((weak));

#endif
