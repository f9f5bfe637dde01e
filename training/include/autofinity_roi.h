/* Marks of the region of interest, for programs that autofinity profiles.
 *
 * The hooks are weak references: whoever wants the marks (a capture runtime, a preloaded library,
 * a linked object) defines them; without a definition every call here is one test of a pointer.
 * Marks do not nest. Call them from one thread, while no other works: begin before the worker
 * threads get their work, end after they have handed it in. heartbeat() may be called by any thread
 * and means "a fixed amount of useful work is done".
 */
#ifndef AUTOFINITY_ROI_H
#define AUTOFINITY_ROI_H

#ifdef __cplusplus
extern "C" {
#endif

extern void autofinity_roi_begin(void) __attribute__((weak));
extern void autofinity_roi_end(void) __attribute__((weak));
extern void autofinity_heartbeat(void) __attribute__((weak));

static inline void roi_begin(void) {
    if (autofinity_roi_begin) autofinity_roi_begin();
}

static inline void roi_end(void) {
    if (autofinity_roi_end) autofinity_roi_end();
}

static inline void heartbeat(void) {
    if (autofinity_heartbeat) autofinity_heartbeat();
}

#ifdef __cplusplus
}
#endif

#endif
