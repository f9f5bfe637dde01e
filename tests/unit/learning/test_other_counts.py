"""Meanings of answers with thread counts that nothing was profiled with."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from observed import observation

from autofinity.affinity.best_matches import BestMatches
from autofinity.learning.leeway_hints import hints_on
from autofinity.learning.other_counts import alike
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.policy import RulePolicy
from autofinity.sim.preset import load_preset
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

MATCHES = BestMatches(load_preset("opteron-6164he").topology)
SETTINGS = LearningSettings(probe="none")
SLP, sLP, SlP, slP = (Hint.parse(text) for text in ("SLP", "sLP", "SlP", "slP"))
SPREAD = "{1,1}{1,1}{1,1}{1,1}"
OF_HINTS = {SPREAD: 1.0, "{4,4}": 0.7, "{5}{1}{1}{1}": 0.8, "{6,2}": 0.71, "{6}{2}": 0.75}
"""Seconds that a program takes that wants to be packed, in the best matches of 8 threads."""
TWO_HOPS, ONE_HOP = "{2,2}{2,2}", "{2}{2}{2}{2}"


def campaign(more: Mapping[str, float]) -> ObservationTable:
    """Four programs as fast as that, and four that want to be spread."""
    rows = []
    for number in range(8):
        for name, seconds in {**OF_HINTS, **more}.items():
            packs = number % 2 == 0
            roi_s = seconds if packs else 2 - seconds
            counts = {"llc_requests": 100.0, "llc_misses": 80.0 if packs else 1.0 + number}
            values = {**counts, "instructions": 1e6 / roi_s, "cycles": 1e6}
            rows.append(
                observation(
                    program=f"p{number}",
                    threads=8,
                    affinity=Affinity.parse(name),
                    behaviour=Behaviour(values),
                    performance=1 / roi_s,
                    roi_s=roi_s,
                    machine="opteron-6164he",
                )
            )
    return table_of(rows)


def learned(table: ObservationTable, settings: LearningSettings = SETTINGS) -> RulePolicy:
    return learn_policy(table, settings, hints_on(MATCHES, 0), {}, MATCHES).policy


def test_an_affinity_is_like_the_one_with_its_caches_and_its_shares() -> None:
    of_eight = tuple(map(Affinity.parse, (TWO_HOPS, ONE_HOP, "{5}{1}{1}{1}", "{4,4}", SPREAD)))
    for text, like in (
        ("{6,6}{6,6}", [TWO_HOPS]),
        ("{6}{6}{6}{6}", [ONE_HOP]),
        ("{6,6}", ["{4,4}"]),
        ("{6}{2}{1}{1}", ["{5}{1}{1}{1}"]),
        ("{3,3}{3,3}{3,3}{3,3}", [SPREAD]),
        ("{4}", []),
    ):
        found = alike(Affinity.parse(text), of_eight)
        assert [str(of_eight[i]) for i in found] == like


@pytest.mark.parametrize("seconds_apart", [0.6, 0.9])
def test_how_likenesses_ran_says_which_best_match_of_24_threads_packs_best(
    seconds_apart: float,
) -> None:
    policy = learned(campaign({TWO_HOPS: 0.75, ONE_HOP: seconds_apart}))
    assert {sLP, SLP} == set(policy.last_words)
    with_24 = MATCHES(24, policy.at(sLP, 24, MATCHES.cores))
    assert str(with_24) == ("{6}{6}{6}{6}" if seconds_apart < 0.75 else "{6,6}{6,6}")
    assert policy.at(SLP, 24, MATCHES.cores) == SLP
    assert policy.at(sLP, 8, MATCHES.cores) == sLP


def test_programs_that_ran_in_the_best_matches_only_hide_no_likeness() -> None:
    """Inputs of real size run in no other affinities."""
    whole = campaign({TWO_HOPS: 0.75, ONE_HOP: 0.6})
    real = [replace(row, input="memory") for row in campaign({}).observations()]
    policy, with_real = learned(whole), learned(table_of([*whole.observations(), *real]))
    assert policy.other_counts is not None
    assert with_real.other_counts == policy.other_counts


def test_an_answer_stands_where_there_is_no_likeness_to_tell() -> None:
    policy = learned(campaign({}))
    assert policy.other_counts is None
    known = learned(campaign({TWO_HOPS: 0.75, ONE_HOP: 0.72}))
    assert [known.at(sLP, threads, MATCHES.cores) for threads in (1, 4, 33, 48)] == [sLP] * 4


def test_what_was_learned_for_one_machine_is_not_said_of_another() -> None:
    policy = learned(campaign({TWO_HOPS: 0.75, ONE_HOP: 0.6}))
    assert policy.at(sLP, 24, Affinity.parse("{24}{24}")) == sLP


def test_a_gain_within_the_tie_changes_nothing() -> None:
    assert learned(campaign({TWO_HOPS: 0.75, ONE_HOP: 0.744})).other_counts is None
    assert learned(campaign({TWO_HOPS: 0.75, ONE_HOP: 0.74})).other_counts is not None


def test_they_are_not_learned_unless_asked_for() -> None:
    table = campaign({TWO_HOPS: 0.75, ONE_HOP: 0.6})
    assert learned(table, replace(SETTINGS, other_counts=False)).other_counts is None
    assert learn_policy(table, SETTINGS, hints_on(MATCHES, 0), {}).policy.other_counts is None


def test_every_count_that_changes_lies_in_one_stretch_a_hint() -> None:
    policy = learned(campaign({TWO_HOPS: 0.75, ONE_HOP: 0.6}))
    assert policy.other_counts is not None
    for entry in policy.other_counts.instead:
        assert entry.least <= entry.most
        assert entry.hint != entry.better
        assert entry.hint in policy.last_words
        assert entry.better in HINTS
