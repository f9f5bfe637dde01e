// Sections, which libgomp hands out one by one.
#include "openmp.h"

static unsigned took_section(af_thread* t, unsigned number) {
    af_end_unit(t);
    if (number != 0 && t->loop.active) af_begin_unit(t, number - 1);
    return number;
}

AF_API unsigned GOMP_sections_start(unsigned count) {
    unsigned (*real)(unsigned) = AF_REAL(unsigned, GOMP_sections_start, (unsigned));
    af_thread* t = af_here();
    if (t == NULL) return real(count);
    af_begin_sections(t, af_team_size(t));
    af_thread* const saved = af_quiet();
    const unsigned number = real(count);
    af_loud(saved);
    return took_section(t, number);
}
AF_API unsigned GOMP_sections_next(void) {
    unsigned (*real)(void) = AF_REAL(unsigned, GOMP_sections_next, (void));
    af_thread* t = af_here();
    if (t == NULL) return real();
    af_thread* const saved = af_quiet();
    const unsigned number = real();
    af_loud(saved);
    return took_section(t, number);
}
AF_API void GOMP_sections_end_nowait(void) {
    af_thread* t = af_here();
    if (t != NULL) {
        af_end_unit(t);
        t->loop.active = false;
    }
    af_thread* const saved = af_quiet();
    AF_REAL(void, GOMP_sections_end_nowait, (void))();
    af_loud(saved);
}
