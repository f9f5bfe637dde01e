"""Facts of a machine: what its topology and its speeds come to for a thread count."""

import math

import pytest

from autofinity.model.facts import FACTS, Speeds, facts_of
from autofinity.sim.preset import load_preset, preset_names
from autofinity.sim.speeds import speeds_of

EPYC = load_preset("epyc-9654")
FAST = Speeds(2.0, 64.0, 96.0, 25.0, 200.0)


def epyc(threads: int, speeds: Speeds = FAST) -> dict[str, float]:
    return facts_of(EPYC.topology, speeds, threads)


def test_eight_packed_threads_share_the_path_of_one_llc() -> None:
    assert epyc(8)["packed_lines_pkc"] == 1e3 * 64.0 / 2.0 / 64 / 8


def test_more_packed_threads_share_the_memory_of_their_nodes() -> None:
    # Three LLCs carry 192 GB/s of the 96 that their node has.
    assert epyc(24)["packed_lines_pkc"] == 1e3 * 96.0 / 2.0 / 64 / 24
    assert epyc(384)["packed_lines_pkc"] == 1e3 * 8 * 96.0 / 2.0 / 64 / 384


def test_latencies_count_as_what_is_lost_to_the_farthest() -> None:
    assert epyc(8)["far_transfers_a_clock"] == pytest.approx(1 / (175.0 * 2.0))


def test_what_is_not_known_is_not_a_number() -> None:
    assert all(map(math.isnan, epyc(8, Speeds()).values()))
    assert math.isnan(epyc(8, Speeds(2.0, math.inf, math.inf))["packed_lines_pkc"])


@pytest.mark.parametrize("name", preset_names())
@pytest.mark.parametrize("threads", [1, 7, 8, 1000])
def test_every_machine_has_facts_that_are_positive_or_unknown(name: str, threads: int) -> None:
    spec = load_preset(name)
    facts = facts_of(spec.topology, speeds_of(spec), threads)
    assert list(facts) == list(FACTS)
    assert all(math.isnan(value) or 0 < value < math.inf for value in facts.values())
