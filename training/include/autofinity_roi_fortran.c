/* The marks of autofinity_roi.h for Fortran, which has no weak references: compiled into the
 * program and called through the interfaces of training_fortran.f90. */
#include "autofinity_roi.h"

void training_roi_begin(void);
void training_roi_end(void);
void training_heartbeat(void);

void training_roi_begin(void) { roi_begin(); }

void training_roi_end(void) { roi_end(); }

void training_heartbeat(void) { heartbeat(); }
