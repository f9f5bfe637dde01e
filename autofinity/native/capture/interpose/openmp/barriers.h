// Barriers of a team.
#pragma once

#include "capture/interpose/openmp/team.h"

// Begins a wait in one of the team's barriers; af_unblock ends the wait.
AF_HIDDEN void af_block_at_barrier(af_thread* t, af_team* team, int team_size);
// Records that the thread has passed a barrier; does nothing unless the barrier is that of the
// whole team.
AF_HIDDEN void af_passed_barrier(af_thread* t, const af_team* team, int team_size);
// Interposed, and also called at the end of a team.
AF_API void GOMP_barrier(void);
