"""MPICH: what its process manager binds ranks to, on simulated machines and here."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from launcher_tools import MASK, SHAPES, allowed_here, mpich, run, simulated
from small_cpuset import small_cpuset

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import launcher_form, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED, SPREAD


@pytest.mark.parametrize("shape", SHAPES)
def test_hydra_binds_each_rank_to_its_cpus(shape: str, tmp_path: Path) -> None:
    mpiexec = mpich()
    topology, xml = simulated(shape, tmp_path)
    env = os.environ | {
        "HWLOC_XMLFILE": str(xml),
        "HWLOC_THISSYSTEM": "1",
        "HYDRA_TOPO_DEBUG": "1",
    }
    for ranks, threads, hint in ((2, 4, PACKED), (4, 2, SPREAD), (3, 1, PACKED)):
        places = place_ranks(topology, ranks, threads, hint)
        (line,) = rank_texts("mpich", places, topology)
        shown = _shown([mpiexec, *line.split()[1:], "true"], env, ranks)
        bound = [{at for at, bit in enumerate(shown[rank]) if bit == "1"} for rank in range(ranks)]
        assert bound == [set(rank.cores.cpus) for rank in places]


def _shown(words: list[str], env: dict[str, str], ranks: int) -> dict[int, str]:
    """CPUs of each rank, as bits. All ranks write into one pipe, and rarely a line is not whole."""
    for _ in range(5):
        done = run(words, env)
        found = re.findall(r"process (\d+) binding: ([01]+)", done.stdout)
        if len(found) == ranks:
            return {int(rank): bits for rank, bits in found}
    pytest.fail(f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}")


@pytest.mark.parametrize("within", ["nothing", "a cpuset"])
def test_ranks_under_mpiexec_read_their_cpus_back(within: str) -> None:
    mpiexec = mpich()
    first, second = allowed_here(2)
    job = Job((Task((second,)), Task((first,))))
    (line,) = launcher_form("mpich").texts(job)
    assert line == f"mpiexec -n 2 -bind-to user:{second},{first}"
    program = ["sh", "-c", f"echo $PMI_RANK $({MASK})"]
    words = [mpiexec, *line.split()[1:], *program]
    if within == "nothing":
        done = run(words, dict(os.environ))
    else:
        with small_cpuset([first, second]) as group:
            done = run([*group.command(), *words], dict(os.environ))
    assert sorted(done.stdout.splitlines()) == [
        f"0 Cpus_allowed_list: {second}",
        f"1 Cpus_allowed_list: {first}",
    ]
