"""`mpirun -n 2 autofinity run -- app` with real launchers: ranks have disjoint places.

Two CPUs are enough: ranks of one thread have a CPU each.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from launcher_tools import mpich, open_mpi, surroundings
from live_masks import allowed, mask_of_task
from live_run import preferred
from permitted import needs_two_cpus
from processes import below

from autofinity.model.topology import OsIndex

type Runner = Any  # of conftest.py


def unbound(launcher: str) -> list[str]:
    """Command of a launcher, which binds no rank."""
    if launcher == "MPICH":
        return [mpich(), "-bind-to", "none", "-n", "2"]
    return [open_mpi(int(launcher[-1])), "--bind-to", "none", "-n", "2"]


def bound_to_cores(launcher: str) -> list[str]:
    """The same, with a core for each rank."""
    if launcher == "MPICH":
        return [mpich(), "-bind-to", "core", "-n", "2"]
    return [open_mpi(int(launcher[-1])), "-n", "2"]  # by default, for two ranks


@contextmanager
def ranks(
    run: Runner, command: list[str], program: list[str | Path], folder: Path
) -> Iterator[list[int]]:
    """Processes of two ranks under `run`, until the block is left."""
    env = surroundings(folder, **run.env)
    name = Path(program[0]).name
    words = [*command, run.launcher, "run", "--", *map(str, program)]
    with preferred(), subprocess.Popen(words, env=env, stderr=subprocess.PIPE) as launcher:
        found: list[int] = []
        try:
            deadline = time.monotonic() + run.patience_s
            while len(found := below(launcher.pid, name)) < 2:
                if launcher.poll() is not None or time.monotonic() > deadline:
                    said = launcher.stderr.read().decode() if launcher.stderr else ""
                    pytest.fail(f"no two ranks appeared: {said}")
                time.sleep(run.look_s)
            yield found
        finally:
            for pid in found:
                os.kill(pid, 9)
            launcher.terminate()


def masks(pids: list[int]) -> list[frozenset[OsIndex]]:
    """CPUs of all threads of each process, from the kernel."""
    return [
        frozenset().union(
            *(mask_of_task(pid, int(task.name)) for task in Path(f"/proc/{pid}/task").iterdir())
        )
        for pid in pids
    ]


def notes(run: Runner) -> dict[int, str]:
    """Notes of each run, by process."""
    words = [run.launcher, "status", "--json"]
    done = subprocess.run(words, env=run.env, capture_output=True, text=True)
    return {row["pid"]: row["notes"] for row in json.loads(done.stdout)["runs"]}


LAUNCHERS = ["Open MPI 4", "Open MPI 5", "MPICH"]


@needs_two_cpus
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_ranks_that_their_launcher_left_unbound_get_disjoint_places(
    mpi: str, run: Runner, spinner: Path, tmp_path: Path
) -> None:
    with ranks(run, unbound(mpi), [spinner, "1", "300"], tmp_path) as pids:
        assert run.eventually(lambda: all(len(each) == 1 for each in masks(pids)))
        first, second = masks(pids)
        assert not first & second
        found = notes(run)
    name = mpi.removesuffix(" 4").removesuffix(" 5")
    for pid in pids:
        assert f"of 2 on this node ({name}): it keeps to its share" in found[pid]


@needs_two_cpus
@pytest.mark.parametrize("mpi", LAUNCHERS)
def test_ranks_that_their_launcher_bound_to_a_core_are_not_placed(
    mpi: str, run: Runner, spinner: Path, tmp_path: Path
) -> None:
    with ranks(run, bound_to_cores(mpi), [spinner, "2", "300"], tmp_path) as pids:
        assert run.eventually(lambda: len(notes(run)) == 2 and all(notes(run).values()))
        first, second = masks(pids)
        assert (len(first), len(second)) == (1, 1)
        assert first | second <= allowed()
        found = notes(run)
    for pid in pids:
        assert "one core, so nothing is placed" in found[pid]
        assert "-bind-to none` leaves the places to autofinity" in found[pid]


@needs_two_cpus
@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ("OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=1", "rank 1 of 2 on this node"),
        ("MV2_COMM_WORLD_LOCAL_SIZE=2 MV2_COMM_WORLD_LOCAL_RANK=0", "this node (MVAPICH)"),
        ("MPI_LOCALNRANKS=2 MPI_LOCALRANKID=1", "rank 1 of 2 on this node (MPICH)"),
        ("PMI_LOCAL_SIZE=2 PMI_LOCAL_RANK=0", "rank 0 of 2 on this node (PMI)"),
        ("SLURM_STEP_TASKS_PER_NODE=2 SLURM_LOCALID=1", "rank 1 of 2 on this node (Slurm)"),
        ("SLURM_STEP_TASKS_PER_NODE=2(x3) SLURM_LOCALID=1", "rank 1 of 2 on this node (Slurm)"),
        ("SLURM_STEP_TASKS_PER_NODE=2,1 SLURM_LOCALID=1", ""),
        ("SLURM_STEP_TASKS_PER_NODE=2,1 SLURM_NODEID=0 SLURM_LOCALID=1", "rank 1 of 2 on"),
        ("SLURM_STEP_TASKS_PER_NODE=1,2 SLURM_NODEID=0 SLURM_LOCALID=0", ""),
        ("SLURM_STEP_TASKS_PER_NODE=1(x3),2(x2),1 SLURM_NODEID=4 SLURM_LOCALID=0", "rank 0 of 2 "),
        ("SLURM_STEP_TASKS_PER_NODE=1,2 SLURM_NODEID=2 SLURM_LOCALID=0", ""),
        ("SLURM_STEP_TASKS_PER_NODE=2,x SLURM_NODEID=1 SLURM_LOCALID=0", ""),
        ("OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_LOCAL_RANK=2", ""),
        ("OMPI_COMM_WORLD_LOCAL_SIZE=2", ""),
        ("MPI_LOCALNRANKS=2x MPI_LOCALRANKID=-1", ""),
        ("MPI_LOCALNRANKS=99999999999999999999 MPI_LOCALRANKID=1", ""),
    ],
)
def test_a_rank_is_known_by_the_variables_of_its_launcher(
    variables: str, said: str, run: Runner
) -> None:
    given = dict(each.split("=") for each in variables.split())
    shown = run("--dry-run", "--", "true", env=run.env | given)
    assert shown.returncode == 0
    notes = [line for line in shown.stdout.decode().splitlines() if "on this node" in line]
    assert [said in line and "keeps to its share" in line for line in notes] == [True] * bool(said)
