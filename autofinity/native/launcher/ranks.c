// Ranks of an MPI program on this node, by the variables that launchers give each of them.
#include <stdlib.h>

#include "launcher.h"

enum { MOST_RANKS = 65536 };

static const struct {
    const char *launcher, *ranks, *rank;
} LAUNCHERS[] = {
    {"Open MPI", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"MVAPICH", "MV2_COMM_WORLD_LOCAL_SIZE", "MV2_COMM_WORLD_LOCAL_RANK"},
    {"MPICH", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},  // hydra; Intel MPI has it, too
    {"PMI", "PMI_LOCAL_SIZE", "PMI_LOCAL_RANK"},
    {"Slurm", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"},
};

// A small number; -1: it is none. Slurm has `4(x2)` for 4 tasks on each of 2 nodes, and lists where
// nodes differ: these are no number.
static int number_in(const char* name) {
    const char* text = getenv(name);
    if (!text || *text < '0' || *text > '9') return -1;
    char* end;
    long number = strtol(text, &end, 10);
    if (end[0] == '(' && end[1] == 'x') {
        strtol(end + 2, &end, 10);
        if (*end == ')') end++;
    }
    return *end || number > MOST_RANKS ? -1 : (int)number;
}

void find_local_rank(LocalRank* out) {
    *out = (LocalRank){0};
    for (size_t i = 0; i < sizeof LAUNCHERS / sizeof LAUNCHERS[0]; i++) {
        int ranks = number_in(LAUNCHERS[i].ranks), rank = number_in(LAUNCHERS[i].rank);
        if (rank < 0 || rank >= ranks) continue;
        *out = (LocalRank){LAUNCHERS[i].launcher, ranks, rank};
        return;
    }
}
