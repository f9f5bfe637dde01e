"""Producers and consumers do best where Cruz et al. say: the benchmark of their section 2.

Cruz, Diener & Navaux, Communication-Aware Thread Mapping Using the Translation Lookaside Buffer,
CCPE 2014, figures 1 to 3, on the machine of figure 2, two Xeon E5-2650. The program is
`training/prodcons`, captured.
"""

from __future__ import annotations

import pytest
from captured_training import CapturedTraining, captured_training
from measure_mapping import (
    OTHER_SOCKET,
    PAIRS,
    PHASES,
    SAME_CORE,
    SAME_CORE_FAR,
    SAME_LLC,
    os_ns,
    phased_ns,
)

from autofinity.sim.preset import load_preset
from autofinity.sim.spec import MachineSpec


@pytest.fixture(scope="module")
def machine() -> MachineSpec:
    return load_preset("xeon-e5-2650")


@pytest.fixture(scope="module")
def one_phase(tmp_path_factory: pytest.TempPathFactory) -> CapturedTraining:
    return captured_training("prodcons", PAIRS, 8, tmp_path_factory.mktemp("one"))


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> CapturedTraining:
    return captured_training("prodcons", PHASES, 8, tmp_path_factory.mktemp("four"))


def test_pairs_do_best_on_one_core_and_worst_on_two_sockets(
    one_phase: CapturedTraining, machine: MachineSpec
) -> None:
    """Section 2: case A has "the highest communication performance", C is "the slowest"."""
    a, b, c = (one_phase.run(machine, pus) for pus in (SAME_CORE, SAME_LLC, OTHER_SOCKET))
    assert a.roi_ns < 0.8 * b.roi_ns
    assert b.roi_ns < 0.6 * c.roi_ns
    # "the consumer always receives a cache miss when reading the data"
    moved = [r.total("cache_to_cache_transfers_same_llc") for r in (a, b, c)]
    assert moved[0] < 0.1 * moved[1]
    assert c.total("cache_to_cache_transfers_remote") > 0.9 * moved[1]
    assert b.total("cache_to_cache_transfers_remote") == 0


def test_mappings_of_the_phase_changing_benchmark_order_as_in_figure_3(
    phases: CapturedTraining, machine: MachineSpec
) -> None:
    """Oracle before static before OS. The static mapping is the best one of the first phase, the
    oracle "migrates the threads at the beginning of each phase to the best mapping for that phase".
    """
    static = phased_ns(phases, machine, [SAME_CORE])
    oracle = phased_ns(phases, machine, [SAME_CORE, SAME_CORE_FAR])
    assert oracle < 0.85 * static
    assert static < 0.85 * os_ns(phases, machine)
