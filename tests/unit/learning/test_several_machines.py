"""One policy for several machines is of what holds on all of them, said in their own terms."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from observed import observation

from autofinity.learning.feature_columns import with_facts
from autofinity.learning.prepared import prepare
from autofinity.learning.settings import LearningSettings
from autofinity.learning.several_machines import Evidence, evidence_of, joined, learn_from
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.counters import Behaviour
from autofinity.model.errors import LearningError
from autofinity.model.facts import FACTS
from autofinity.model.observation import Observation
from autofinity.policy.answers import last_answer
from autofinity.policy.on_machine import on_machine
from autofinity.policy.selector import decide
from autofinity.store.observations import table_of

APART, TOGETHER = Affinity.parse("{1}{1}"), Affinity.parse("{2}")
SPREAD, PACKED = Hint.parse("SLP"), Hint.parse("slP")
LINES_PKC = {"narrow": 20.0, "wide": 80.0, "wider": 160.0}
"""Lines that the packed threads of each machine can read."""
SETTINGS = LearningSettings(probe="none")


def hints_of(affinity: Affinity) -> Sequence[Hint]:
    return [{APART: SPREAD, TOGETHER: PACKED}[affinity]]


def run_on(
    machine: str, program: str, affinity: Affinity, roi_s: float, values: Mapping[str, float]
) -> Observation:
    return observation(
        program=program,
        input="memory",
        affinity=affinity,
        behaviour=Behaviour(values),
        performance=1 / roi_s,
        roi_s=roi_s,
        machine=machine,
    )


def runs_on(machine: str) -> Evidence:
    """Twenty programs that read more and more from memory. They lose when they are packed once they
    ask for more than half of what there is, and gain a tenth otherwise.
    """
    rows = []
    for number in range(20):
        misses_pkc = 10.0 * number
        loss = 1.5 if misses_pkc > LINES_PKC[machine] / 2 else 0.9
        values = {
            "llc_requests": 1e9,
            "llc_misses": 1e6 * misses_pkc,
            "instructions": 1e9,
            "cycles": 1e9,
        }
        rows += [
            run_on(machine, f"p{number:02}", affinity, roi_s, values)
            for affinity, roi_s in {APART: 1.0, TOGETHER: loss}.items()
        ]
    facts = {**dict.fromkeys(FACTS, np.nan), "packed_lines_pkc": LINES_PKC[machine]}
    return evidence_of(with_facts(table_of(rows), lambda _: facts), SETTINGS, hints_of)


def answer(policy_of: Evidence, lines_pkc: float, misses_pkc: float) -> Hint:
    policy = learn_from(policy_of, SETTINGS, {}).policy
    here = on_machine(policy, {"packed_lines_pkc": lines_pkc})
    return decide(here, {"llc_misses": misses_pkc, "cycles": 1e3, "llc_requests": 1e9}).hint


ALL = joined([runs_on(machine) for machine in LINES_PKC])


@pytest.mark.parametrize("lines_pkc", [*LINES_PKC.values(), 40.0, 320.0])
def test_what_is_learned_holds_on_machines_that_nobody_has_seen(lines_pkc: float) -> None:
    assert answer(ALL, lines_pkc, 0.2 * lines_pkc) == PACKED
    assert answer(ALL, lines_pkc, 0.9 * lines_pkc) == SPREAD


def test_a_machine_and_a_program_can_be_left_out() -> None:
    rest = ALL.without(machines={"wide"}, program="p03")
    seen = rest.first.features
    assert "wide" not in seen.machine.text() and "p03" not in seen.program.text()
    assert len(seen) == 2 * 19
    assert answer(rest, 80.0, 72.0) == SPREAD


def test_observations_of_several_machines_are_refused_with_both_ways_to_go_on() -> None:
    rows = [run_on(f"machine-{of}", "p00", APART, 1.0, {"cycles": 1e9}) for of in range(6)]
    with pytest.raises(LearningError) as refused:
        prepare(table_of(rows), SETTINGS, hints_of)
    said = str(refused.value)
    assert "6 machines ('machine-0', " in said
    assert "'machine-3', …), expected one" in said
    assert "name the file of one machine" in said
    assert "`autofinity rules --machine any`" in said


def test_the_rows_of_machines_keep_their_own_losses() -> None:
    one, other = runs_on("narrow"), runs_on("wider")
    both = joined([one, other])
    np.testing.assert_array_equal(both.losses, np.concatenate([one.losses, other.losses]))
    mine = both.first.features.machine.equals("wider")
    np.testing.assert_array_equal(
        both.losses[both.first.workload[mine]], other.losses[other.first.workload]
    )


def programs_alike(machine: str, settings: LearningSettings) -> Evidence:
    """Twelve programs that nothing at the start distinguishes: four gain when they are packed."""
    rows = []
    for number in range(12):
        packed_s = 0.7 if number % 3 == 0 else 1.5
        for affinity, roi_s in {APART: 1.0, TOGETHER: packed_s}.items():
            values = {"llc_requests": 1e9, "instructions": 1e9 / roi_s, "cycles": 1e9}
            rows.append(run_on(machine, f"p{number:02}", affinity, roi_s, values))
    facts = dict.fromkeys(FACTS, np.nan)
    return evidence_of(with_facts(table_of(rows), lambda _: facts), settings, hints_of)


def test_every_answer_is_checked_by_a_second_look_staying_too() -> None:
    settings = LearningSettings(probe="slP")
    parts = [programs_alike(machine, settings) for machine in LINES_PKC]
    policy = learn_from(joined(parts), settings, {}).policy
    assert (policy.rules, policy.default.spread_sockets) == ((), True)
    assert policy.second is not None
    assert policy.second.after == HINTS
    start = {"llc_requests": 1e9, "instructions": 1e9, "cycles": 1e9}
    for gain, hint in ((1 / 0.7, PACKED), (1 / 1.5, SPREAD)):
        packed = {**start, "instructions": gain * 1e9}
        seen = {SPREAD: start, PACKED: packed}
        assert last_answer(policy, seen.__getitem__, 2, Affinity.parse("{2}{2}")) == hint


def test_of_nothing_a_default_alone_is_learned_and_said_so() -> None:
    learned = learn_from(runs_on("wide").without(machines={"wide"}), SETTINGS, {})
    assert learned.policy.rules == ()
    assert "no feature can be chosen" in learned.notes[0]
