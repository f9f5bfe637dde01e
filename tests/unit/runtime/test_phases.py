"""A phase is recognised by values that do not depend on placement."""

from __future__ import annotations

from told_looks import at_phase, look

from autofinity.model.counters import Behaviour
from autofinity.runtime.phases import Phase, most_apart, nearby, paired, warmed


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


def test_looks_while_caches_still_fill_do_not_count() -> None:
    """At a fifth, then a half of the speed to come; a program that is slow for good is not cold."""
    start = look(at_phase(20, speed=1e9))
    probes = [look(at_phase(20, speed=speed)) for speed in (0.2e9, 0.5e9, 1.19e9, 1.2e9, 1.21e9)]
    assert warmed([(start, probe) for probe in probes]) == [(start, probe) for probe in probes[2:]]
    slow = [(start, look(at_phase(20, speed=speed))) for speed in (0.50e9, 0.49e9, 0.51e9)]
    assert warmed(slow) == slow
    assert warmed([]) == []


def test_speeds_that_are_another_phases_are_not_taken_for_cold_caches() -> None:
    fast, slow = at_phase(4, speed=3e9), at_phase(40, speed=1e9)
    pairs = [(look(each), look(each)) for each in (slow, fast, fast)]
    assert warmed(pairs) == pairs


def test_a_phase_is_near_where_little_of_what_is_counted_is_different() -> None:
    building = look(at_phase(37, loads=0.242, stores=0.015))
    later = look(at_phase(38, loads=0.236, stores=0.012))
    assert paired([building], [later]) == []
    assert nearby([building, look(MERGING)], [later]) == [(building, later)]
    assert 0.02 < most_apart([(building, later)]) < 0.04


def test_no_phase_is_near_that_asks_its_caches_for_more() -> None:
    """Requests take time: a fifth more of them is another phase, however alike the rest is."""
    assert nearby([look(at_phase(30))], [look(at_phase(40))]) == []
    assert most_apart([]) == float("inf")
