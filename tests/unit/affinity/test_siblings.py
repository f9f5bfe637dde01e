"""A hint that puts threads on siblings says so."""

from __future__ import annotations

import pytest
from made_up_machine import cpus, machine

from autofinity.affinity.hints import get_affinity
from autofinity.affinity.siblings import siblings_note
from autofinity.model.affinity import HINTS, PACKED, SPREAD

MACHINE = machine(packages=2, llcs=1, cores=4, smt=2)


def note(threads: int, hint: object = PACKED) -> str:
    return siblings_note(MACHINE, hint, get_affinity(MACHINE, threads, hint).cpus)  # type: ignore[arg-type]


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_with_a_core_a_thread_there_is_nothing_to_say(hint: object) -> None:
    assert note(7, hint) == ""


def test_as_many_threads_as_cores_are_packed_on_siblings_and_that_is_said() -> None:
    assert note(8) == (
        "packed (slp) puts 8 threads on 4 cores, several to a core, and leaves 4 cores "
        "idle; spread (SLP) takes all cores first"
    )
    assert note(8, SPREAD) == ""


def test_more_threads_than_cores_have_no_others() -> None:
    assert note(16).endswith("16 threads on 8 cores, several to a core: there are no more cores")
    assert "there are no more cores" in note(9, SPREAD)


def test_cores_that_may_not_be_used_are_none() -> None:
    half = MACHINE.restricted(cpus(0, 1, 2, 3))
    packed = get_affinity(half, 4, PACKED).cpus
    assert siblings_note(half, PACKED, packed).endswith("there are no more cores")
