// Barriers of a team.
#pragma once

#include "capture/interpose/openmp/team.h"

// Around a wait in one of the team's barriers: af_unblock ends it.
AF_HIDDEN void af_block_at_barrier(af_thread* t, af_team* team, int team_size);
// The thread has passed one; nothing where it is the whole team.
AF_HIDDEN void af_passed_barrier(af_thread* t, const af_team* team, int team_size);
// The real one is called at the end of a team, too.
AF_API void GOMP_barrier(void);
