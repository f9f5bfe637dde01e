// Areas of the captured program's memory whose addresses in the trace differ from the real ones.
#pragma once

#include <stdint.h>

// Lines from `from` on, up to the next area, are written with numbers that are `less` smaller
// (process/addresses.c). All 0: numbers are written unchanged.
enum { AF_AREAS = 5 };
typedef struct af_areas {
    uint64_t from[AF_AREAS];
    uint64_t less[AF_AREAS];
} af_areas;

// The area of a line.
typedef struct af_area {
    uint64_t from, lines, less;
} af_area;

static inline af_area af_area_of(const af_areas* areas, uint64_t line) {
    uint64_t from = 0, until = UINT64_MAX, less = 0;
    for (int i = 0; i < AF_AREAS && until == UINT64_MAX; i++) {
        if (line < areas->from[i]) {
            until = areas->from[i];
        } else {
            from = areas->from[i];
            less = areas->less[i];
        }
    }
    return (af_area){from, until - from, less};
}
