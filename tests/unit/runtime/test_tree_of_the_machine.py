"""The tree that describes the machine, for a monitor and for a dry run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from autofinity.model.cpu_lists import format_cpu_list
from autofinity.model.errors import AutofinityError
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.policies import this_machine
from autofinity.runtime.preview import preview
from autofinity.runtime.request import Request
from autofinity.runtime.surroundings import Deciding, Surroundings
from autofinity.runtime.watching import watch


@pytest.fixture(autouse=True)
def _empty_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOFINITY_SYSFS", "")


@pytest.fixture
def request_here() -> Iterator[Request]:
    """Request to watch a program that only waits."""
    allowed = format_cpu_list(frozenset(map(OsIndex, os.sched_getaffinity(0))))
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        yield Request(child.pid, "program", "key", allowed)


def test_an_empty_name_of_a_tree_means_the_systems_own_for_a_dry_run(request_here: Request) -> None:
    assert preview(request_here).topology.pus


def test_an_empty_name_of_a_tree_means_the_systems_own_for_a_monitor(request_here: Request) -> None:
    seen: list[Topology] = []

    def no_mechanism(request: Request, around: Surroundings) -> Deciding[object]:
        seen.append(around.topology)
        raise AutofinityError("no mechanism here")

    watch(request_here, no_mechanism)  # type: ignore[arg-type]
    assert seen[0].pus


def test_an_empty_name_of_a_tree_means_the_systems_own_for_the_choice_of_a_policy() -> None:
    assert this_machine({"AUTOFINITY_SYSFS": ""}) == this_machine({})
