"""Exact answers of the PMU for programs of a few events, worked out by hand in `counter_cases`."""

from __future__ import annotations

import pytest
from counter_case import counts_of
from counter_cases import CASES
from sim_programs import cpus
from thread_texts import written

from autofinity.sim.events import EVENTS
from autofinity.sim.replay import simulate
from autofinity.sim.spec import MachineSpec


@pytest.mark.parametrize("claim", CASES)
def test_the_counts_are_those_worked_out_by_hand(claim: str) -> None:
    assert counts_of(CASES[claim]) == CASES[claim].expected


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_has_a_case_that_counts_it(event: str) -> None:
    def total(expected: int | tuple[int, ...]) -> int:
        return expected if isinstance(expected, int) else sum(expected)

    assert any(total(case.expected.get(event, 0)) for case in CASES.values())


def test_no_case_expects_an_event_that_there_is_not() -> None:
    assert {event for case in CASES.values() for event in case.expected} <= set(EVENTS)


def test_clocks_of_a_thread_add_up_to_the_time(opteron: MachineSpec) -> None:
    trace = written("compute 1000, barrier 1 2", "compute 500_000, barrier 1 2").build()
    result = simulate(opteron, trace, cpus(0, 1), sample_period_ns=50_000)
    clocks = result.roi_ns * opteron.ghz
    both = result.of_workers("cycles") + result.of_workers("cpu_clocks_halted")
    assert both[0] == pytest.approx(clocks, rel=0.01)
    assert result.of_workers("stall_cycles_sync")[0] > 0.9 * clocks
    # Instructions of a long gap are spread over the samples it covers.
    per_sample = result.samples[:, 1, 0].astype(int)
    per_period = 50_000 * opteron.ghz * opteron.core.base_ipc
    assert per_sample[1:-1].min() == pytest.approx(per_period, rel=0.01)
    assert int(result.samples[:, :, 0].sum()) == result.total("instructions") == 501_002
