"""A policy in words says what it was learned from, which line decides, and what hints mean."""

from __future__ import annotations

import math
from dataclasses import replace

from autofinity.model.affinity import HINTS, PACKED, SPREAD, Affinity, Hint
from autofinity.model.policy import (
    Condition,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    Trial,
)
from autofinity.policy.in_words import policy_in_words

RULE = Rule((Condition("ipc", -math.inf, 0.25),), PACKED, 1.0, 0.0)
FASTER = Rule((Condition("speed_gain", 1.1, math.inf),), PACKED, 1.0, 0.0)


def policy(
    *rules: Rule, second: SecondLook | None = None, trial: Trial | None = None
) -> RulePolicy:
    cuts = {condition.counter: (0.25,) for rule in rules for condition in rule.conditions}
    return RulePolicy(tuple(cuts), cuts, rules, SPREAD, second=second, trial=trial)


def test_a_trial_says_which_hint_is_tried_and_when_threads_stay() -> None:
    look = SecondLook(Hint.parse("slP"), HINTS, policy(FASTER))
    lines = policy_in_words(policy(RULE, second=look, trial=Trial(Hint.parse("sLP"), 1.01)))
    at = lines.index("Then try few-sockets-own-caches (sLP).")
    assert lines[at + 1] == "Threads stay if they are more than 1.01 times as fast as before."
    assert lines[-1].startswith("  few-sockets") or any("(sLP):" in line for line in lines[at:])


def test_every_rule_is_a_line_in_order_and_the_default_the_last() -> None:
    unknown = Rule((Condition("of_ours", 2.0, math.inf),), Hint.parse("sLP"), 1.0, 0.0)
    assert policy_in_words(policy(RULE, unknown))[1:5] == [
        "Sample the threads spread (SLP); the first line that holds is the answer:",
        "  1. packed (slp), where at most 0.25 instructions end per clock",
        "  2. few-sockets-own-caches (sLP), where of_ours > 2",
        "  3. spread (SLP), everywhere else",
    ]


def test_thread_counts_with_another_hint_are_listed_and_these_hints_explained() -> None:
    shared = Hint.parse("SlP")
    other = OtherCounts(Affinity.parse("{6,6}{6,6}"), (Instead(PACKED, 19, 24, shared),))
    lines = policy_in_words(replace(policy(RULE), other_counts=other))
    at = lines.index("With other thread counts, on a machine of the cores {6,6}{6,6}:")
    instead = "many-sockets-shared-caches (SlP) instead of packed (slp)"
    assert lines[at + 1] == f"  19 to 24 threads: {instead}"
    assert any(line.startswith("  many-sockets-shared-caches (SlP): ") for line in lines[at + 2 :])


def test_a_policy_without_rules_has_one_answer() -> None:
    lines = policy_in_words(policy())
    assert lines[1] == "Whatever a program does, its threads go spread (SLP)."
    assert "no hardware counter" in lines[0]


def test_a_second_look_says_where_it_is_taken_and_after_which_answers_it_is_not() -> None:
    after = tuple(hint for hint in HINTS if hint != PACKED)
    look = SecondLook(Hint.parse("slP"), after, policy(FASTER))
    lines = policy_in_words(policy(RULE, second=look))
    at = lines.index(
        "Then place them few-sockets-shared-caches (slP) and sample them again, unless the answer "
        "was packed (slp); the first line that holds is the answer:"
    )
    assert lines[at + 1].startswith("  1. packed (slp), where threads are more than 1.1 times")


def test_every_hint_that_is_named_is_explained() -> None:
    look = SecondLook(Hint.parse("slP"), HINTS, policy(FASTER))
    lines = policy_in_words(policy(RULE, second=look))
    explained = [line.split(":")[0].strip() for line in lines[lines.index("The hints:") + 1 :]]
    assert explained == ["spread (SLP)", "few-sockets-shared-caches (slP)", "packed (slp)"]


def test_what_a_policy_file_says_of_its_origin_is_made_printable() -> None:
    origin = {"machine": "a\x1b[31m", "observations": {"programs": ["x", "y"]}}
    lines = policy_in_words(RulePolicy((), {}, (), PACKED, provenance=origin))
    assert "\x1b" not in lines[0]
    assert lines[0].startswith("This policy was learned from 2 programs on a")
