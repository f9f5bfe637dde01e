"""How much faster a placement between packed and spread is: why some trials are left out
(`runtime/trying.py`)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.observation import Workload
from autofinity.runtime.trying import BEYOND, NEIGHBOURS, SHARERS, hopeless, parts_sharers
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology

DATA = Path(__file__).parents[3] / "data"
OBSERVED = tuple(
    (folder, machine)
    for folder, machines in {
        "observations": (
            "epyc-9654",
            "epyc-9654-nps1",
            "opteron-6164he",
            "opteron-6386",
            "xeon-8480",
        ),
        "kernels": ("epyc-9654", "opteron-6164he", "xeon-8480"),
        "llc": ("epyc-9654", "xeon-8480"),
        "solvers": ("epyc-9654", "opteron-6164he", "xeon-8480"),
        "unseen": ("epyc-9755", "xeon-6972p"),
    }.items()
    for machine in machines
)
"""Folders and machines of all observations in which spread, packed and the trial differ."""
TOO_SHORT = {
    ("epyc-9654", Workload("power", "small", 48)),
    ("epyc-9654", Workload("scan", "small", 24)),
}
"""Packed, these end within a sample period, so that no observation has such a run."""
HINTS = tuple(map(Hint.parse, ("slP", "sLP")))
"""Hints of the second look and of the trial, in the shipped policies."""


class Case(NamedTuple):
    """A program in spread, in a packed affinity and in that of the trial."""

    what: str
    start: Behaviour
    """Sums in spread, of counters that show whether neighbours matter; a speed of 1."""
    pace: float
    """Speed packed, by that in spread."""
    gain: float
    """Speed in the trial, by that in spread."""
    packed: Affinity
    tried: Affinity


def cases(folder: str, machine: str) -> list[Case]:
    """All cases in which the three affinities differ."""
    table = read(DATA / folder / f"{machine}.parquet")
    times = times_of(table)
    match = BestMatches(machine_topology(machine))
    found = []
    for each in times.roi_s:
        spread = match(each.threads, SPREAD)
        packed, tried = (match(each.threads, hint) for hint in HINTS)
        if len({spread, packed, tried}) == 3 and (machine, each) not in TOO_SHORT:
            base = times.of(each, spread)
            pace, gain = (base / times.of(each, place) for place in (packed, tried))
            rows = table.program.equals(each.program) & table.input.equals(each.input)
            rows &= (table.threads == each.threads) & table.affinity.equals(str(spread))
            seen = {name: float(np.nansum(table.counters[name][rows])) for name in NEIGHBOURS}
            start = Behaviour({**seen, "instructions": 1.0})
            found.append(Case(f"{each.program} {each.input}", start, pace, gain, packed, tried))
    assert found
    return found


@pytest.mark.parametrize(("folder", "machine"), OBSERVED)
def test_no_trial_that_is_left_out_would_have_won(folder: str, machine: str) -> None:
    for what, _, pace, gain, packed, tried in cases(folder, machine):
        assert gain < 1 or not hopeless(packed, pace, tried, 1.0), f"{what}: {pace:.3f}, {gain:.3f}"


@pytest.mark.parametrize(("folder", "machine"), OBSERVED)
def test_no_threads_that_gain_most_by_one_cache_gain_more_on_several(
    folder: str, machine: str
) -> None:
    for what, start, pace, gain, packed, tried in cases(folder, machine):
        lost = parts_sharers(start, packed, pace, tried)
        assert gain < 1.01 * pace or not lost, f"{what}: {pace:.3f}, {gain:.3f}"


def test_only_sharers_of_one_cache_are_known_to_gain_by_it() -> None:
    one, halves, fuller = Affinity.of([[8]]), Affinity.of([[4, 4]]), Affinity.of([[6, 2]])
    shared, misses = NEIGHBOURS
    sharers = Behaviour({"instructions": 2.0, shared: 6.0, misses: 10.0})
    readers = Behaviour({"instructions": 2.0, shared: 4.0, misses: 10.0})
    assert parts_sharers(sharers, one, 2 * SHARERS, halves)
    assert not parts_sharers(readers, one, 2 * SHARERS, halves)
    assert not parts_sharers(Behaviour({"instructions": 2.0}), one, 2 * SHARERS, halves)
    assert not parts_sharers(sharers, one, 2 * SHARERS - 0.1, halves)
    assert not parts_sharers(sharers, one, float("nan"), halves)
    assert not parts_sharers(sharers, one, 2 * SHARERS, fuller)
    assert not parts_sharers(sharers, fuller, 2 * SHARERS, Affinity.of([[3, 3, 2]]))


def test_a_trial_on_fuller_caches_is_never_lost_before_it_begins() -> None:
    """Threads that share data may be faster there."""
    fuller, emptier = Affinity.of([[4]]), Affinity.of([[2, 2]])
    assert hopeless(fuller, 0.3, emptier, 1.0)
    assert not hopeless(emptier, 0.3, fuller, 1.0)
    assert not hopeless(fuller, float("nan"), emptier, 1.0)


@pytest.mark.parametrize(("folder", "machine"), OBSERVED)
def test_no_slower_program_gains_more_than_its_share_of_a_cache_says(
    folder: str, machine: str
) -> None:
    for what, _, pace, gain, packed, tried in cases(folder, machine):
        share = packed.fullest_llc / tried.fullest_llc
        assert pace > 1 or gain < BEYOND * share * pace, f"{what}: {pace:.3f}, {gain:.3f}"
