// Marks of the region of interest in the program (training/include/autofinity_roi.h), and PARSEC's.
#include "capture/record/slots.h"
#include "capture/threads/roi.h"
#include "capture/threads/streams.h"

static void mark(void (*change)(af_thread*)) {
    if (af_roi_chosen() != AF_ROI_MARKS) return;
    af_thread* t = af_mine != NULL ? af_mine : af_here();
    if (t != NULL) change(t);
}

AF_API void autofinity_roi_begin(void) { mark(af_roi_begin); }
AF_API void autofinity_roi_end(void) { mark(af_roi_end); }
AF_API void __parsec_roi_begin(void) { mark(af_roi_begin); }
AF_API void __parsec_roi_end(void) { mark(af_roi_end); }
// Where a program contains PARSEC's own hooks, calls of them also come here: the program is linked
// with --wrap (autofinity/capture/build.py).
AF_API void __wrap___parsec_roi_begin(void) { mark(af_roi_begin); }
AF_API void __wrap___parsec_roi_end(void) { mark(af_roi_end); }
AF_API void __parsec_bench_begin(int benchmark) { (void)benchmark; }
AF_API void __parsec_bench_end(void) {}

AF_API void autofinity_heartbeat(void) {
    af_thread* t = af_here();
    if (t != NULL) af_event_add(t, AF_HEARTBEAT, 1, 0);
}
