"""Expected gain of a placement, by the gains of training programs under the same rule."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import pytest
from advised import sampled, seen

from autofinity.evaluation.cases import Case
from autofinity.evaluation.times import geometric_mean, times_of
from autofinity.evaluation.under_rule import Fell
from autofinity.model.affinity import PACKED, SPREAD, Hint
from autofinity.model.observation import Workload
from autofinity.model.policy import Condition, Decision, Rule, RulePolicy
from autofinity.model.ratios import Ratio
from autofinity.policy.on_machine import on_machine
from autofinity.policy.selector import decide
from autofinity.workflow.advice.gain import gain
from autofinity.workflow.advice.placement import chosen_of
from autofinity.workflow.advice.seen import Section
from autofinity.workflow.advice.worth import worth_of
from autofinity.workflow.observations import matches_for, observations_of
from autofinity.workflow.policies import named_policy
from autofinity.workflow.several_machines import evaluate_across

SAMPLES = ((0.0, 1.0), (0.0, 50.0), (0.5, 50.0))
"""Share of requests that caches of other LLC domains answer, and requests per 1,000 instructions,
that rules 1 and 2 of the shipped policy for any machine take, and its default."""
NO_OS = ("epyc-9654-nps1", "opteron-6386")


def told(policy: RulePolicy, sample: dict[str, float], kind: str = "", threads: int = 4) -> Section:
    """Gain of a program with such a sample, on a machine of that kind without known facts."""
    here = on_machine(policy, {})
    one = seen(**{**sampled(PACKED, **sample), "policy": here, "learned": policy, "kind": kind})
    one = replace(one, threads=threads)
    one = replace(one, state=replace(one.state, decision=decide(here, sample)))
    return gain(one, chosen_of(one))


@functools.cache  # each reads all shipped observations
def of_any_machine(sample_of: tuple[float, float], kind: str = "") -> Section:
    share, per_kilo = sample_of
    within, across = (f"cache_to_cache_transfers_{llc}_llc" for llc in ("same", "other"))
    sample = {within: 0.0, across: share * 1e6, "llc_requests": 1e6, "instructions": 1e9 / per_kilo}
    return told(named_policy("any-machine"), sample, kind)


def provenance(*machines: str) -> dict[str, object]:
    """Provenance of a policy that was learned from these shipped observations."""
    tables = [observations_of(machine) for machine in machines]
    programs = sorted({program for table in tables for program in table.programs()})
    made_of = {"rows": sum(map(len, tables)), "programs": programs}
    return {"machine": "any", "machines": list(machines), "observations": made_of}


def test_a_gain_is_never_made_up() -> None:
    nothing = gain(seen(), None)
    assert (nothing.advice, nothing.facts["gain"]) == ("not known", None)
    rule = Rule((Condition("instructions", 0, 1e12),), PACKED, covered=12, wrong=3)
    policy = RulePolicy(("instructions",), {"instructions": ()}, (rule,), SPREAD)
    one = seen(**{**sampled(PACKED, instructions=1e9), "policy": policy})
    found = gain(one, chosen_of(one))
    assert found.advice == "not known"
    assert "does not name the machine " in found.evidence[0]
    assert found.evidence[1] == (
        "rule 1 covers a weight of 12 of the training cases, 3 of it wrongly"
    )
    assert (found.facts["covered"], found.facts["wrong"]) == (12, 3)


@pytest.mark.parametrize(
    ("provenance", "why"),
    [
        ({"machine": "opteron-6164he", "threads": []}, "does not name"),
        ({"machine": "opteron-6164he", "threads": 8}, "does not name"),
        ({"machine": "opteron-6164he", "threads": [4, 8]}, "learned from other observations"),
        ({"machine": 7, "threads": [8]}, "does not name"),
        ({"machine": "any", "machines": []}, "does not name the machines "),
        ({"machine": "any", "machines": [["altix-450"]]}, "does not name the machines "),
        ({"machine": "any", "machines": ["nowhere"]}, "no observations of nowhere are shipped"),
        ({"machine": "any", "machines": ["i9-13900k"]}, "learned from other observations"),
        ({"machine": "nowhere", "threads": [8]}, "no observations of nowhere are shipped"),
        ({"machine": "../secret", "threads": [8]}, "no observations of ../secret are shipped"),
        ({"machine": "i9-13900k", "threads": [8]}, "learned from other observations"),
        (
            {"machine": "i9-13900k", "threads": [8], "observations": {"digest": "0" * 64}},
            "learned from other observations",
        ),
    ],
)
def test_what_a_policy_was_learned_from_counts_only_if_it_is_what_is_shipped(
    provenance: dict[str, object], why: str
) -> None:
    policy = RulePolicy(("instructions",), {}, (), PACKED, provenance)
    one = seen(**{**sampled(PACKED, instructions=1e9), "policy": policy})
    found = gain(one, chosen_of(one))
    assert found.advice == "not known"
    assert why in found.evidence[0]


def test_the_gain_is_what_programs_gained_that_the_same_rule_decided() -> None:
    policy = named_policy("altix-450.paper")
    assert not policy.rules  # so all of its programs fell under the default
    found = told(policy, dict.fromkeys(policy.counters, 1e6))
    table = observations_of("altix-450")
    match, all_times = matches_for(table), times_of(table)
    wanted = {}
    for workload, times in all_times.roi_s.items():
        if workload.threads == 4:
            under_os = all_times.baselines[workload]["os"]
            wanted[workload.program] = under_os / times[match(4, policy.default)]
    assert found.facts["gains"] == pytest.approx(wanted)
    assert found.facts["gain"] == pytest.approx(geometric_mean(wanted.values()))
    low, high = found.facts["interval"]  # type: ignore[misc]
    assert min(wanted.values()) <= low < found.facts["gain"] < high <= max(wanted.values())  # type: ignore[operator]
    assert f"{len(wanted)} of the programs" in found.evidence[0]
    assert found.advice.startswith(f"{found.facts['gain']:.2f} times the speed")


@pytest.mark.parametrize(
    ("threads", "said"), [(4, "with 4 threads"), (5, "with 4 threads; none has as many as 5")]
)
def test_thread_counts_of_the_cases_are_named_and_a_larger_one_that_none_has(
    threads: int, said: str
) -> None:
    policy = named_policy("altix-450.paper")
    found = told(policy, dict.fromkeys(policy.counters, 1e6), threads=threads)
    assert found.facts["threads"] == [4]
    assert found.evidence[1].endswith(f", on altix-450, {said}")


def test_of_a_policy_for_any_machine_all_cases_that_it_is_judged_by_count_under_one_rule() -> None:
    found = [of_any_machine(each) for each in SAMPLES]
    assert [section.facts["rule"] for section in found] == [0, 1, None]
    judged = evaluate_across(policy="any-machine")["nothing"]
    cases = [case for some, _ in judged.values() for case in some]
    known = [case for case in cases if "os" in case.roi_s]
    assert sum(section.facts["cases"] for section in found) == len(cases)  # type: ignore[misc]
    counted = [s.facts["cases"] - s.facts["cases_without_os"] for s in found]  # type: ignore[operator]
    assert sum(counted) == len(known) < len(cases)
    logs = [
        count * math.log(section.facts["gain"])  # type: ignore[arg-type]
        for count, section in zip(counted, found, strict=True)
    ]
    wanted = geometric_mean(case.against("os") for case in known)
    assert math.exp(math.fsum(logs) / len(known)) == pytest.approx(wanted)
    assert {name for s in found for name in s.facts["machines"]} == set(judged)  # type: ignore[attr-defined]


def test_each_answer_of_a_second_look_is_told_with_how_many_programs_went_that_way() -> None:
    found = of_any_machine(SAMPLES[-1])
    policy = named_policy("any-machine")
    second, trial = policy.second, policy.trial
    assert second is not None and trial is not None
    answers = found.facts["answers"]
    assert isinstance(answers, list)
    words = (*second.policy.last_words, trial.hint)
    assert [each["hint"] for each in answers] == [str(hint) for hint in words]
    assert sum(each["cases"] for each in answers) == found.facts["cases"]
    for each in answers:
        hint = Hint.from_letters(each["hint"]).shown
        line = f"  {hint}: cases: {each['cases']}, programs: {len(each['programs'])}; "
        assert any(text.startswith(line) for text in found.evidence)
    stayed = next(each for each in answers if each["hint"] == str(SPREAD))
    assert stayed["gain_over_spread"] == pytest.approx(1.0)
    packed = next(each for each in answers if each["hint"] == str(PACKED))
    assert packed["gain"] > found.facts["gain"] > stayed["gain"]  # type: ignore[operator]


def test_an_answer_that_no_program_got_is_told_and_has_no_gain() -> None:
    policy = named_policy("opteron-6164he")
    assert policy.second is not None
    answers = told(policy, dict.fromkeys(policy.counters, 1e6)).facts["answers"]
    assert isinstance(answers, list)
    assert len(answers) == len(policy.second.policy.last_words)
    assert all((each["gain"] is None) == (each["cases"] == 0) for each in answers)


def test_a_policy_of_several_thread_counts_is_told_of_by_the_cases_of_all() -> None:
    table = observations_of("opteron-6164he")
    policy = named_policy("opteron-6164he")
    assert policy.provenance["threads"] == [4, 8, 16, 24]
    packed = RulePolicy(policy.counters, {}, (), PACKED, policy.provenance)
    found = told(packed, dict.fromkeys(policy.counters, 1e6))
    placed = table.placed_by("affinity")
    assert found.facts["cases"] == len(set(placed.workload().tolist()))
    eight = {**policy.provenance, "threads": [8]}
    other = told(replace(packed, provenance=eight), dict.fromkeys(policy.counters, 1e6))
    assert "learned from other observations" in other.evidence[0]


def test_a_final_answer_has_no_answers_of_a_second_look() -> None:
    policy = RulePolicy(("instructions",), {}, (), PACKED, provenance("altix-450"))
    found = told(policy, {"instructions": 1e9})
    assert found.facts["answers"] == []
    assert not any("looks again" in line for line in found.evidence)


def test_on_a_machine_that_was_learned_from_its_own_cases_count_where_they_are_enough() -> None:
    own = of_any_machine(SAMPLES[-1], "xeon-8480")
    assert own.facts["machines"] == ["xeon-8480"]
    assert "on xeon-8480" in own.evidence[1]
    assert own.facts["gain"] != of_any_machine(SAMPLES[-1]).facts["gain"]
    # Too few programs fall under the default on the one; the other has no times under the system.
    for sample, kind in ((SAMPLES[-1], "i9-13900k"), (SAMPLES[-1], NO_OS[0])):
        assert of_any_machine(sample, kind).facts["machines"] != [kind]


def test_cases_without_a_run_under_the_system_count_for_the_gain_over_spread_alone() -> None:
    packed = RulePolicy(("instructions",), {}, (), PACKED, provenance(*NO_OS, "altix-450"))
    found = told(packed, {"instructions": 1e9})
    tables = [observations_of(machine) for machine in (*NO_OS, "altix-450")]
    over_os, over_spread, without = [], [], 0
    for table in tables:
        match, times = matches_for(table), times_of(table)
        for workload, by_affinity in times.roi_s.items():
            placed = times.placed(workload)
            there = by_affinity[match(placed, PACKED)]
            over_spread.append(by_affinity[match(placed, SPREAD)] / there)
            under_os = times.baselines.get(workload, {}).get("os")
            without += under_os is None
            over_os += [under_os / there] if under_os else []
    assert found.facts["gain"] == pytest.approx(geometric_mean(over_os))
    assert found.facts["gain_over_spread"] == pytest.approx(geometric_mean(over_spread))
    assert found.facts["cases_without_os"] == without > 0
    nothing = told(replace(packed, provenance=provenance(*NO_OS)), {"instructions": 1e9})
    assert (nothing.facts["gain"], nothing.facts["gains"]) == (None, {})
    assert nothing.advice.startswith("not known over the operating system; over spread (SLP) ")
    assert isinstance(nothing.facts["gain_over_spread"], float)


def test_a_rule_is_the_same_one_where_facts_of_the_machine_are_not_known() -> None:
    over_fact = Ratio("walked", ("instructions",), ("instructions",), 1.0, "packed_lines_pkc")
    facts = Rule((Condition("walked", -math.inf, -1.0),), SPREAD)
    counted = Rule((Condition("instructions", -math.inf, math.inf),), PACKED)
    cuts: dict[str, tuple[float, ...]] = {"walked": (-1.0,), "instructions": ()}
    made_of = provenance("altix-450")
    policy = RulePolicy(
        ("instructions",), cuts, (facts, counted), SPREAD, made_of, ratios=(over_fact,)
    )
    found = told(policy, {"instructions": 1e9})
    everything = RulePolicy(("instructions",), {}, (), PACKED, made_of)
    assert found.facts["rule"] == 0  # of those that are left here
    assert found.facts["gains"] == told(everything, {"instructions": 1e9}).facts["gains"]


def test_a_program_on_many_machines_is_drawn_as_one() -> None:
    def fell(program: str, machine: int, gain: float) -> Fell:
        roi_s = {"autofinity": 1.0, "os": gain}
        case = Case(Workload(program, "", 8), Decision(PACKED, None, 0.0, None), {}, roi_s)
        return Fell(str(machine), PACKED, case)

    gains = {"one": 1.0, "two": 2.0, "four": 4.0}
    many = [fell(name, machine, gain) for name, gain in gains.items() for machine in range(50)]
    worth = worth_of(many, "os")
    assert worth is not None and worth.interval is not None
    assert worth.value == pytest.approx(2.0)
    # All three programs of a resample are the same one in more than 2.5 % of resamples.
    assert worth.interval == (pytest.approx(1.0), pytest.approx(4.0))
    assert (worth.cases, worth.programs) == (150, 3)
    few = worth_of(many[:100], "os")
    assert few is not None and few.interval is None
    assert worth_of(many, "compact") is None
