"""srun of a real Slurm of one node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from launcher_tools import MASK, allowed_here
from made_up_machine import machine
from slurm_here import said, slurm_here

from autofinity.affinity.launchers.form import Job, Task
from autofinity.affinity.launchers.table import launcher_form, rank_texts
from autofinity.affinity.ranks import place_ranks
from autofinity.model.affinity import PACKED


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with slurm_here(tmp_path_factory.mktemp("slurm")) as env:
        yield env


@pytest.mark.parametrize("masks", [[(1,)], [(0,)], [(1, 0)], [(1,), (0,)]])
def test_each_task_reads_its_mask_back(slurm: dict[str, str], masks: list[tuple[int]]) -> None:
    cpus = allowed_here(2)
    tasks = tuple(Task(tuple(cpus[at] for at in task)) for task in masks)
    (line,) = launcher_form("srun").texts(Job(tasks))
    program = ["sh", "-c", f"echo $SLURM_PROCID $({MASK})"]
    out = said(["salloc", "--exclusive", "--nodes=1", *line.split(), *program], slurm)
    shown = sorted(line for line in out.splitlines() if "Cpus_allowed_list" in line)
    assert shown == [
        f"{rank} Cpus_allowed_list: {'0-1' if len(task) == 2 else task[0]}"
        for rank, task in enumerate(masks)
    ], out


def test_several_ranks_have_a_mask_each_in_their_order() -> None:
    whole = machine(2, 1, 1, 4)
    (line,) = rank_texts("srun", place_ranks(whole, 2, 3, PACKED), whole)
    assert line == (
        "srun --nodes=1 --ntasks=2 --distribution=block:block --mem-bind=local "
        "--cpu-bind=mask_cpu:0x7,0x70"
    )
