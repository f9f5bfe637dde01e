"""A second look checks every answer of the first, and only where it pays."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from observed import observation

from autofinity.learning.pipeline import discretiser_of, learn_policy
from autofinity.learning.second_look import Seen, with_second_look
from autofinity.learning.settings import LearningSettings
from autofinity.model.affinity import HINTS, SPREAD, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.policy import RulePolicy
from autofinity.policy import files
from autofinity.policy.answers import answers
from autofinity.policy.selector import decide
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

APART, BESIDE, TOGETHER = map(Affinity.parse, ("{1}{1}{1}", "{1,1,1}", "{2,1}"))
SLP, sLP, slP = HINTS[0], Hint.parse("sLP"), Hint.parse("slP")
CORES = Affinity.parse("{4,4}{4,4}")
SETTINGS = LearningSettings(trial="none")


def hints_of(affinity: Affinity) -> Sequence[Hint]:
    return [{APART: SLP, BESIDE: sLP, TOGETHER: slP}[affinity]]


def campaign(
    *, seen_at_the_start: bool = False, without: Affinity | None = None
) -> ObservationTable:
    """Two thirds of the programs share and gain by packing. Half of these gain more together, the
    others wait there: their cycles fall. Nothing at the start shows which, unless asked for.
    """
    rows = []
    for number in range(24):
        shares, waits = number % 3 != 0, number % 2 == 0
        if shares:
            times = {APART: 1.0, BESIDE: 0.7, TOGETHER: 0.8 if waits else 0.6}
        else:
            times = {APART: 1.0, BESIDE: 1.3, TOGETHER: 1.4}
        for affinity, roi_s in times.items():
            if affinity == without:
                continue
            misses = 0.5 if shares else 0.1
            if seen_at_the_start and shares and waits:
                misses += 0.4
            values = {
                "llc_requests": 100.0,
                "llc_misses": 100.0 * misses,
                "instructions": 1e6 / roi_s,
                "cycles": 1e6 * (0.9 if waits and affinity == TOGETHER else 1.0),
            }
            rows.append(
                observation(
                    program=f"p{number:02}",
                    threads=3,
                    affinity=affinity,
                    behaviour=Behaviour(values),
                    performance=1 / roi_s,
                    roi_s=roi_s,
                )
            )
    return table_of(rows)


def learned(table: ObservationTable, settings: LearningSettings = SETTINGS) -> RulePolicy:
    return learn_policy(table, settings, hints_of, {}).policy


def answer(policy: RulePolicy, table: ObservationTable, program: str) -> Hint:
    """The last answer of the policy for a program."""
    of_program = {seen.affinity: seen for seen in table.of_program(program).observations()}
    where = {SLP: APART, sLP: BESIDE, slP: TOGETHER}
    said = answers(policy, lambda hint: of_program[where[hint]].behaviour.values, 3, CORES)
    return said[-1].hint


def test_what_only_sharing_shows_is_asked_where_caches_are_shared() -> None:
    table = campaign()
    policy = learned(table)
    assert policy.second is not None
    assert policy.second.sampled_in == slP
    assert policy.second.after == HINTS
    given = [answer(policy, table, f"p{number:02}") for number in range(24)]
    best = [SLP if n % 3 == 0 else sLP if n % 2 == 0 else slP for n in range(24)]
    assert given == best
    assert files.loads(files.dumps(policy).encode()) == policy


def test_a_program_that_is_moved_by_mistake_is_sent_back() -> None:
    policy = learned(campaign())
    assert policy.second is not None
    start = {"llc_requests": 100.0, "llc_misses": 55.0, "instructions": 1e6, "cycles": 1e6}
    slower = {**start, "instructions": 0.7e6}
    assert decide(policy, start).hint != SPREAD
    said = answers(policy, {SLP: start, slP: slower}.__getitem__, 3, CORES)
    assert said[-1].hint == SPREAD


def test_a_second_look_that_tells_nothing_new_is_not_taken() -> None:
    policy = learned(campaign(seen_at_the_start=True))
    assert policy.second is None


@pytest.mark.parametrize(
    "settings",
    [replace(SETTINGS, probe="none"), replace(SETTINGS, learner="ripper")],
    ids=["none asked for", "another learner"],
)
def test_a_second_look_is_not_taken_unless_asked_for(settings: LearningSettings) -> None:
    assert learned(campaign(), settings).second is None


def test_without_samples_in_the_second_affinity_there_is_none_and_a_note_says_so() -> None:
    made = learn_policy(campaign(without=TOGETHER), SETTINGS, hints_of, {})
    assert made.policy.second is None
    assert any("slP" in note and "no second look" in note for note in made.notes)


def test_a_second_look_asks_for_no_more_events_than_the_machine_counts() -> None:
    for k in (2, 3, 4):
        policy = learned(campaign(), replace(SETTINGS, k=k))
        assert len(policy.counters) <= k


def test_a_second_look_that_would_look_at_nothing_is_not_taken() -> None:
    """Neither feature predicts anything: the first rules lose by theirs, and one answer for all
    would lose less. That answer needs no second look.
    """
    numbers = np.random.default_rng(5)
    names = [f"p{number:02}" for number in range(60)]
    losses = np.full((60, len(HINTS)), 1.0)
    prefers_packed = numbers.random(60) < 0.4
    losses[~prefers_packed, 0], losses[prefers_packed, 7] = 0.0, 0.0

    def sampled(feature: str) -> Seen:
        rows = [
            observation(
                program=name, threads=3, affinity=APART, behaviour=Behaviour({feature: value})
            )
            for name, value in zip(names, numbers.random(60), strict=True)
        ]
        return Seen(table_of(rows), np.arange(60), discretiser_of(SETTINGS))

    first, again = sampled("llc_misses"), sampled("llc_requests")
    policy = RulePolicy(("llc_misses",), {"llc_misses": (0.5,)}, (), SLP)
    after, why = with_second_look(policy, first, again, losses, SETTINGS)
    assert after is policy
    assert why.startswith("no second look: a second look in")
    _, lost = first.held_out(losses, ("llc_misses",), SETTINGS.most_rules)
    _, by_one = again.held_out(losses, (), SETTINGS.most_rules)
    assert by_one.sum() < lost.sum()
