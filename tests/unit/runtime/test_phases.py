"""A phase is told by what does not depend on placement."""

from __future__ import annotations

from told_looks import at_phase, look

from autofinity.model.counters import Behaviour
from autofinity.runtime.phases import Phase, paired


def phase(**rates: float) -> Phase:
    return Phase.of(Behaviour(rates))


SORTING = at_phase(4, loads=0.135, stores=0.126)
MERGING = at_phase(33, loads=0.118, stores=0.118)


def test_speed_and_what_the_llc_holds_are_no_phase() -> None:
    slow = Phase.of(Behaviour({**at_phase(33, speed=1e8), "llc_misses": 1e8, "cycles": 1e9}))
    fast = Phase.of(Behaviour({**at_phase(33, speed=2e9), "llc_misses": 1.0, "cycles": 2e9}))
    assert slow.like(fast) and fast.like(slow)


def test_instructions_by_kind_and_requests_tell_phases_apart() -> None:
    a, b = Phase.of(Behaviour(SORTING)), Phase.of(Behaviour(MERGING))
    assert not a.like(b) and not b.like(a)
    kinds_only = phase(instructions=1e9, data_cache_loads=1.35e8)
    assert not kinds_only.like(phase(instructions=1e9, data_cache_loads=1.18e8))
    assert not phase(instructions=1e9, llc_requests=1e7).like(
        phase(instructions=1e9, llc_requests=2e7)
    )


def test_requests_may_differ_by_what_others_take_away_and_rare_ones_by_chance() -> None:
    assert phase(instructions=1e9, llc_requests=3e7).like(phase(instructions=1e9, llc_requests=4e7))
    assert phase(instructions=1e9, llc_requests=1e4).like(
        phase(instructions=1e9, llc_requests=1.5e6)
    )


def test_what_is_not_counted_tells_nothing() -> None:
    assert phase().like(Phase.of(Behaviour(MERGING)))
    assert phase(instructions=0.0, llc_requests=5.0) == Phase({})
    assert phase(instructions=1e9, llc_requests=float("nan")) == Phase({})


def test_looks_are_compared_over_the_same_phases_in_the_same_mixture() -> None:
    starts = [look(SORTING), look(MERGING), look(MERGING)]
    probes = [look({**MERGING, "cycles": float(n)}) for n in range(4)]
    pairs = paired(starts, probes)
    assert [probe for _, probe in pairs] == probes
    assert all(start.behaviour["llc_requests"] == MERGING["llc_requests"] for start, _ in pairs)
    assert {id(start) for start, _ in pairs} == {id(starts[1]), id(starts[2])}
    assert paired([look(SORTING)], probes) == []


def test_a_mixture_lies_among_its_phases() -> None:
    sorting, merging = Phase.of(Behaviour(SORTING)), Phase.of(Behaviour(MERGING))
    half = Phase.of(Behaviour(at_phase(18, loads=0.126, stores=0.122)))
    assert half.within([sorting, merging])
    assert not half.within([sorting]) and not half.within([])
    assert not Phase.of(Behaviour(at_phase(60, loads=0.126, stores=0.122))).within(
        [sorting, merging]
    )
