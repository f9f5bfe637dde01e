"""Other authorities that pin threads are shown by their variables, as far as these ask for places.

Variables of OpenMP runtimes: tests/contract/test_twins.py.
"""

from __future__ import annotations

import os

import pytest

from autofinity.linux.pins import other_pins
from autofinity.model.topology import OsIndex


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("quiet,none", False),  # srun --cpu-bind=none
        ("verbose", False),
        ("quiet,mask_cpu:0x3", True),
        ("quiet,cores", True),
    ],
)
def test_slurm_is_shown_where_it_binds_tasks(value: str, shown: bool) -> None:
    here = frozenset(map(OsIndex, os.sched_getaffinity(0)))
    lines = other_pins(os.getpid(), {"SLURM_CPU_BIND": value}, here)
    assert any(line.startswith("SLURM_CPU_BIND=") for line in lines) == shown


def test_cpus_that_the_kernel_has_isolated_are_kept_back_by_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = frozenset(map(OsIndex, os.sched_getaffinity(0)))
    more = here | {OsIndex(5000)}
    monkeypatch.setattr("autofinity.linux.pins.listed_online", lambda: more)
    monkeypatch.setattr("autofinity.linux.pins.cpuset_of", lambda pid: None)
    assert "it was started with CPUs" in "".join(other_pins(os.getpid(), {}, here))
    monkeypatch.setattr("autofinity.linux.pins.isolated", lambda: more - here)
    assert other_pins(os.getpid(), {}, here) == ()
