"""Who runs where when captured programs are replayed, alone and beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from sim_programs import streaming

from autofinity.affinity.hints import get_affinity
from autofinity.model.affinity import PACKED, SPREAD, Affinity
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex
from autofinity.sim.preset import load_preset
from autofinity.workflow.simulate import (
    Seats,
    Several,
    simulate_several,
    simulate_trace,
    threads_of,
)

SPEC = load_preset("xeon-e5-2650")  # two sockets of eight cores with two threads each
EIGHT = tuple(OsIndex(cpu) for cpu in range(8))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    streaming(6, pages_each=1, repeats=2).write(str(tmp_path))
    return tmp_path


def test_threads_sit_on_the_cpus_given_else_by_affinity_else_by_hint() -> None:
    topology = SPEC.topology
    backwards = EIGHT[:3][::-1]
    packed = Affinity.of([[3]])
    assert Seats(backwards, packed, SPREAD).on(topology, 3) == backwards
    assert len({topology.by_os_index[c].package for c in Seats((), packed).on(topology, 3)}) == 1
    assert Seats().on(topology, 3) == get_affinity(topology, 3, SPREAD).cpus
    assert Seats(hint=PACKED).on(topology, 3) == get_affinity(topology, 3, PACKED).cpus


@pytest.mark.parametrize("seats", [Seats(EIGHT), Seats(affinity=Affinity.of([[8]]))])
def test_seats_for_another_thread_count_are_refused(seats: Seats) -> None:
    with pytest.raises(UsageError, match="8"):
        seats.on(SPEC.topology, 3)


def test_as_many_threads_are_placed_as_there_are_cpus_or_as_are_wanted(trace: Path) -> None:
    assert len(simulate_trace(SPEC, trace, Seats(EIGHT[:2])).workers) == 2
    assert len(simulate_trace(SPEC, trace, threads=3).workers) == 3
    assert threads_of(trace, 4) == 4


def test_programs_sit_beside_each_other_as_long_as_there_is_room(trace: Path) -> None:
    runs = Several([trace] * 6, threads=6).bound(SPEC)
    taken = [frozenset(run.cpus) for run in runs]
    assert len(frozenset().union(*taken[:5])) == 5 * 6
    assert taken[5] == taken[0], "two CPUs are left: it has the whole machine to choose from"
    assert not any(run.after for run in runs)


def test_programs_that_come_one_after_the_other_have_the_same_cpus(trace: Path) -> None:
    runs = Several([trace] * 2, (0.0, 5.0), after=True, threads=6).bound(SPEC, PACKED)
    assert runs[0].cpus == runs[1].cpus
    assert [(run.start_ns, run.after) for run in runs] == [(0.0, False), (5.0, True)]


def test_unbound_threads_may_use_the_cpus_given_or_all(trace: Path) -> None:
    several = Several([trace], threads=2)
    assert several.unbound(SPEC.topology, EIGHT)[0].cpus == EIGHT
    assert len(several.unbound(SPEC.topology)[0].cpus) == len(SPEC.topology.pus)
    moved = simulate_several(SPEC, several, unbound=True, cpus=EIGHT[:2])
    assert set(moved.whole.cpus) <= set(EIGHT[:2])
