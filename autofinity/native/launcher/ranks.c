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

// Number of this node within a step of Slurm's, from 0; -1: unknown.
static long node_of_step(void) {
    const char* text = getenv("SLURM_NODEID");
    return text && *text >= '0' && *text <= '9' ? strtol(text, NULL, 10) : -1;
}

// A small number; -1: it is none. Slurm has `4(x2),3` for 4 tasks on each of two nodes and 3 on a
// third one: the number is that of this node, which need not be known where all nodes are alike.
static int number_in(const char* name) {
    const char* text = getenv(name);
    long node = node_of_step();
    for (const char* at = text; at && *at >= '0' && *at <= '9';) {
        char* end;
        long number = strtol(at, &end, 10), nodes = 1;
        if (end[0] == '(' && end[1] == 'x') {
            nodes = strtol(end + 2, &end, 10);
            if (nodes < 1 || *end++ != ')') return -1;
        }
        if (*end && *end != ',') return -1;
        bool alike = at == text && !*end;
        if (alike || (node >= 0 && node < nodes)) return number > MOST_RANKS ? -1 : (int)number;
        if (node < 0 || !*end) return -1;
        node -= nodes;
        at = end + 1;
    }
    return -1;
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
