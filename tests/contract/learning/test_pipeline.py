"""From observations to a policy in one call."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from observed import observation

from autofinity.learning.action_frame import CONSEQUENCES
from autofinity.learning.pipeline import learn_policy
from autofinity.learning.prepared import prepare
from autofinity.learning.row_weights import row_weights
from autofinity.learning.settings import PAPER as PAPERS
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.errors import LearningError
from autofinity.store.observation_table import ObservationTable
from autofinity.store.observations import table_of

PAPER = replace(PAPERS, bin_number="automatic", weighting="observations")
"""WEKA's rule cuts nothing that lies in two clumps, as here, and JRip asks for more rows."""

PACKED, SPREAD = Affinity.parse("{2}"), Affinity.parse("{1}{1}")
BEST = {PACKED: Hint.parse("slp"), SPREAD: Hint.parse("SLP")}


def hints_of(affinity: Affinity) -> Sequence[Hint]:
    return [BEST[affinity]]


def campaign(programs: int = 12, sensitive: bool = True, periods: int = 10) -> ObservationTable:
    """Programs with much `sharing` are faster packed, the others are faster spread."""
    draw = np.random.default_rng(8)
    rows = []
    for number in range(programs):
        shares = number % 3 == 0
        for affinity in (PACKED, SPREAD):
            good = shares == (affinity == PACKED)
            speed = (1.0 if good else 0.6) if sensitive else 1.0
            for sample in range(periods):
                behaviour = {
                    "sharing": (8.0 if shares else 1.0) + draw.random(),
                    "misses": float(draw.random()),
                    "instructions": 1e9 * speed * (1 + 0.05 * draw.random()),
                }
                rows.append(
                    observation(
                        program=f"p{number:02}",
                        affinity=affinity,
                        sample=sample,
                        progress=(sample + 0.5) / periods,
                        behaviour=Behaviour(behaviour),
                        performance=speed * (1 + number),
                        roi_s=1 / speed,
                    )
                )
    return table_of(rows)


def test_a_policy_is_learned_that_tells_sharing_programs_from_others() -> None:
    table = campaign()
    learned = learn_policy(
        table, replace(PAPER, counters=("sharing",)), hints_of, {"machine": "box"}
    )
    (rule,) = learned.policy.rules
    assert (str(rule.hint), str(learned.policy.default)) == ("slp", "SLP")
    (condition,) = rule.conditions
    assert 2.0 < condition.lower < 8.5 and condition.upper == math.inf
    assert learned.policy.provenance["machine"] == "box"
    kept = learned.policy.provenance["observations"]
    assert isinstance(kept, dict)
    assert kept["digest"] == table.digest()


def test_counters_are_chosen_where_none_are_given() -> None:
    learned = learn_policy(campaign(), replace(PAPER, k=2), hints_of, {})
    assert learned.counters is not None
    assert len(learned.policy.counters) == 2
    assert learned.policy.counters == learned.counters.chosen


def test_our_own_ripper_learns_the_same_from_clear_data_as_jrip() -> None:
    settings = replace(PAPER, counters=("sharing", "misses"))
    jrip = learn_policy(campaign(), settings, hints_of, {}).policy
    own = learn_policy(campaign(), replace(settings, learner="ripper"), hints_of, {}).policy
    assert own.default == jrip.default
    # Bins between the two kinds are empty, so each may put the edge elsewhere.
    (ours,), (theirs,) = own.rules, jrip.rules
    assert (ours.hint, ours.covered, ours.wrong) == (theirs.hint, theirs.covered, theirs.wrong)
    assert ours.conditions[0].counter == theirs.conditions[0].counter


@pytest.mark.parametrize("bin_type", ["ordered", "nominal"])
@pytest.mark.parametrize("discretisation", ["equal-width", "equal-frequency"])
@pytest.mark.parametrize("literal", [True, False])
def test_every_way_of_learning_finds_the_two_kinds(
    bin_type: str, discretisation: str, literal: bool
) -> None:
    settings = replace(
        PAPER,
        counters=("sharing", "misses"),
        bin_type=bin_type,  # type: ignore[arg-type]
        discretisation=discretisation,  # type: ignore[arg-type]
        literal=literal,
    )
    policy = learn_policy(campaign(), settings, hints_of, {}).policy
    assert {str(rule.hint) for rule in policy.rules} | {str(policy.default)} == {"slp", "SLP"}


def test_too_few_rows_for_a_rule_give_a_default_and_a_reason() -> None:
    settings = replace(PAPER, counters=("sharing", "misses"), weighting="none")
    learned = learn_policy(campaign(), settings, hints_of, {})
    assert learned.policy.rules == ()
    assert f"no rule is confirmed on {len(learned.table)} rows" in learned.notes[-1]


def test_the_same_observations_give_the_same_policy() -> None:
    one, other = (learn_policy(campaign(), PAPER, hints_of, {}) for _ in range(2))
    assert one.policy == other.policy


def test_programs_that_do_not_care_give_a_default_and_a_reason() -> None:
    learned = learn_policy(campaign(sensitive=False), PAPER, hints_of, {})
    assert (learned.policy.rules, learned.policy.default) == ((), HINTS[0])
    assert "no program is sensitive" in learned.notes[-1]
    assert len(learned.table) == 0


def test_everything_that_was_seen_can_be_looked_at() -> None:
    table = campaign(sensitive=False)
    assert len(prepare(table, PAPER, hints_of).behaviours) == 0
    ready = prepare(table, PAPER, hints_of, everything=True)
    assert (len(ready.behaviours), ready.insensitive) == (len(table), ())


def test_a_single_best_hint_gives_a_default_and_a_reason() -> None:
    only = campaign(programs=1)
    learned = learn_policy(only, replace(PAPER, counters=("sharing",)), hints_of, {})
    assert (learned.policy.rules, str(learned.policy.default)) == ((), "slp")
    assert "same hint is best" in learned.notes[-1]


def test_destinations_without_hints_give_a_default_and_a_reason() -> None:
    settings = replace(PAPER, counters=("sharing",))
    learned = learn_policy(campaign(), settings, lambda affinity: (), {})
    assert "no behaviour has a known consequence" in learned.notes[-1]


def test_a_single_observation_gives_a_default_and_a_reason() -> None:
    table = campaign(programs=1, periods=1).take(np.array([0]))
    learned = learn_policy(table, PAPER, hints_of, {})
    assert learned.policy.rules == ()
    assert "the policy has no rules" in learned.notes[-1]


def test_observations_of_two_machines_are_refused() -> None:
    rows = list(campaign(programs=2).observations())
    rows[0] = replace(rows[0], machine="other")
    with pytest.raises(LearningError, match="2 machines"):
        learn_policy(table_of(rows), PAPER, hints_of, {})


def test_an_unknown_counter_is_named() -> None:
    with pytest.raises(LearningError, match=r"'flops'.*sharing"):
        learn_policy(campaign(), replace(PAPER, counters=("flops",)), hints_of, {})


def test_no_observations_is_an_error() -> None:
    table = campaign().take(np.array([], dtype=np.int64))
    with pytest.raises(LearningError, match="no observations"):
        learn_policy(table, PAPER, hints_of, {})


def test_a_stake_weighs_rows_where_hints_differ_and_keeps_the_sum() -> None:
    table = learn_policy(campaign(), replace(PAPER, counters=("sharing",)), hints_of, {}).table
    flat = table.copy()
    flat.loc[0, list(CONSEQUENCES)] = 1.0
    weights = row_weights(flat, "stake")
    assert weights[0] == 0.0
    assert weights.sum() == pytest.approx(table["weight"].sum())
    assert row_weights(table, "none").tolist() == [1.0] * len(table)
    assert row_weights(table, "observations").tolist() == table["weight"].tolist()
