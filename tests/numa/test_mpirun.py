"""`mpiexec -n 4 autofinity run -- app` with a real MPICH: each rank has a node of its own.

Open MPI 4 starts no program in the guest (smoke/test_ranks_under_mpi.py has it with two ranks).
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from launcher_tools import mpich, surroundings
from live_nodes import computing, nodes_used
from processes import below

from autofinity.model.topology import Topology

RANKS = 4


def test_four_ranks_of_mpiexec_are_on_a_node_each(
    run: Any, programs: Path, topology: Topology, tmp_path: Path
) -> None:
    launcher = [mpich(), "-launcher", "fork", "-bind-to", "none"]
    own = ("--hint", "packed", "--threads", "2", "--bind", "core")
    program = (str(programs / "workers"), "2", "3000")
    words = [*launcher, "-n", str(RANKS), run.launcher, "run", *own, "--", *program]
    with subprocess.Popen(words, env=surroundings(tmp_path, **run.env)) as started:
        ranks: list[int] = []

        def appeared() -> bool:
            ranks[:] = below(started.pid, "workers")
            return len(ranks) == RANKS

        def a_node_each() -> bool:
            nodes = [set(nodes_used(computing(rank), topology)) for rank in ranks]
            return all(len(used) == 1 for used in nodes) and len(set().union(*nodes)) == RANKS

        try:
            assert run.eventually(appeared), ranks
            assert run.eventually(a_node_each), [computing(rank) for rank in ranks]
        finally:
            for rank in ranks:
                os.kill(rank, 9)
            started.terminate()
