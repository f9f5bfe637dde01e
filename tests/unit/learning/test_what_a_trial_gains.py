"""How much faster a placement between packed and spread is: why some trials are left out
(`runtime/trying.py`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import SPREAD, Affinity, Hint
from autofinity.model.observation import Workload
from autofinity.runtime.trying import BEYOND, hopeless
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


def speeds(folder: str, machine: str) -> list[tuple[str, float, float, Affinity, Affinity]]:
    """Speeds packed and in the trial by that in spread, and their affinities, where all differ."""
    times = times_of(read(DATA / folder / f"{machine}.parquet"))
    match = BestMatches(machine_topology(machine))
    found = []
    for each in times.roi_s:
        spread = match(each.threads, SPREAD)
        packed, tried = (match(each.threads, hint) for hint in HINTS)
        if len({spread, packed, tried}) == 3 and (machine, each) not in TOO_SHORT:
            base = times.of(each, spread)
            pace, gain = (base / times.of(each, place) for place in (packed, tried))
            found.append((f"{each.program} {each.input}", pace, gain, packed, tried))
    assert found
    return found


@pytest.mark.parametrize(("folder", "machine"), OBSERVED)
def test_no_trial_that_is_left_out_would_have_won(folder: str, machine: str) -> None:
    for what, pace, gain, packed, tried in speeds(folder, machine):
        assert gain < 1 or not hopeless(packed, pace, tried, 1.0), f"{what}: {pace:.3f}, {gain:.3f}"


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
    for what, pace, gain, packed, tried in speeds(folder, machine):
        share = packed.fullest_llc / tried.fullest_llc
        assert pace > 1 or gain < BEYOND * share * pace, f"{what}: {pace:.3f}, {gain:.3f}"
