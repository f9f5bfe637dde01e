"""Why a placement between packed and spread is tried (docs/any-machine.md)."""

from __future__ import annotations

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import SPREAD, Hint
from autofinity.resources import shipped
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology

MACHINE, THREADS = "epyc-9654", 8
NOISE = 0.002
"""Noise of three page colourings, as a share."""


def test_few_sockets_own_caches_is_no_slower_than_spread_with_8_threads_on_an_epyc() -> None:
    times = times_of(read(shipped("data", "observations", f"{MACHINE}.parquet")))
    match = BestMatches(machine_topology(MACHINE))
    spread, between = (match(THREADS, hint) for hint in (SPREAD, Hint.parse("sLP")))
    assert spread != between
    workloads = [each for each in times.roi_s if each.threads == THREADS]
    assert len({each.program for each in workloads}) == 25
    for each in workloads:
        ratio = times.of(each, between) / times.of(each, spread)
        assert ratio <= 1 + NOISE, f"{each.program} {each.input}: {ratio:.4f}"
