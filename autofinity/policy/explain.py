"""Explanation of a policy's answer for one sample."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from autofinity.foreign_text import one_line
from autofinity.model.policy import Condition, Decision, RulePolicy
from autofinity.policy.evidence import asked_by
from autofinity.policy.nearest import Change, NearestChange, nearest_change, single_changes
from autofinity.policy.possible import Possible, possible
from autofinity.policy.readable import condition_text, hint_text, number, percent
from autofinity.policy.selector import decide, values_of
from autofinity.policy.sentences import sentence


@dataclass(frozen=True, slots=True)
class RuleAnswer:
    """Answer of one rule for the sample."""

    index: int
    fires: bool
    """Whether the rule's conditions hold (only the first such rule decides)."""
    failing: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A decision with all facts that bear on it."""

    decision: Decision
    values: Mapping[str, float]
    """Value of each input of the policy; NaN where nothing was measured."""
    missing: tuple[str, ...]
    """Counters of the policy that the sample lacks, or has no value of."""
    possible: Possible
    """The answers that the missing counters leave open."""
    unknown: tuple[str, ...]
    """Counters of the sample that the policy does not use."""
    rules: tuple[RuleAnswer, ...]
    margins: tuple[Change, ...]
    """For each counter or ratio that alone could change the hint, the smallest change, by size."""
    nearest: NearestChange | None
    """The smallest change of any counters together that gives the runner-up."""


def explain(policy: RulePolicy, sample: Mapping[str, float]) -> Explanation:
    """Decide, and explain the decision."""
    values = values_of(policy, sample)
    decision = decide(policy, sample)
    rules = []
    for index, rule in enumerate(policy.rules):
        failing = tuple(c for c in rule.conditions if not c.holds(values[c.counter]))
        rules.append(RuleAnswer(index, not failing, failing))
    margins = single_changes(policy, values, decision.hint)
    return Explanation(
        decision=decision,
        values=values,
        missing=tuple(counter for counter in policy.counters if math.isnan(values[counter])),
        possible=possible(policy, values),
        unknown=tuple(counter for counter in sample if counter not in policy.counters),
        rules=tuple(rules),
        margins=tuple(sorted(margins, key=lambda change: change.relative)),
        nearest=nearest_change(policy, values, decision.hint),
    )


def explanation_text(policy: RulePolicy, why: Explanation, *, margins: bool = True) -> str:
    """The explanation for a person, in a few lines; without `margins`, the runner-up alone says how
    far another hint is.
    """
    decision = why.decision
    lines = [f"{decision.hint.shown}: {hint_text(decision.hint)}"]
    if not why.possible.decided:
        lines.insert(0, f"cannot decide: {undecided_text(why.possible, 'the sample')}")
        lines[1] = f"no condition on what is lacking holds, which leads to {lines[1]}"
    if decision.rule is None:
        lines.append(f"by the default: none of {len(policy.rules)} rules holds")
    else:
        lines.append(f"by rule {decision.rule + 1} of {len(policy.rules)}:")
        if said := sentence(policy.rules[decision.rule]):
            lines.append(f"  {said}")
        for condition in policy.rules[decision.rule].conditions:
            value = number(why.values[condition.counter])
            lines.append(f"  {condition_text(condition)}   (measured {value})")
    if margins:
        lines += _margin_lines(policy, why)
    if why.nearest is not None:
        lines.append(_runner_up(why.nearest, why.margins if margins else ()))
    lines += _missing_lines(policy, why)
    if why.unknown:
        known = ", ".join(map(one_line, policy.counters)) or "no counter"
        lines.append(
            f"ignored: {', '.join(map(one_line, why.unknown))}; the policy looks at {known}"
        )
    return "\n".join(lines) + "\n"


def undecided_text(possible: Possible, where: str) -> str:
    """Says which counters `where` lacks, and which hints they choose among."""
    return (
        f"{where} lacks {possible.lacking_text}, which the rules ask for; "
        f"the answer may be {possible.hints_text}"
    )


def _missing_lines(policy: RulePolicy, why: Explanation) -> list[str]:
    """Counters that rules ask for and that were not measured; none where the first line of the
    explanation names them.
    """
    used = asked_by(policy)
    missing = ", ".join(one_line(counter) for counter in why.missing if counter in used)
    if not missing or not why.possible.decided:
        return []
    return [f"not measured: {missing}; the hint does not depend on that"]


def _margin_lines(policy: RulePolicy, why: Explanation) -> list[str]:
    changes = [f"{_change_text(change)} → {change.hint.shown}" for change in why.margins]
    if not changes:
        final = policy.rules and why.possible.decided
        return ["no value alone could change the hint"] if final else []
    begin = "one value alone would change the hint:"
    if len(changes) == 1:
        return [f"{begin} {changes[0]}"]
    return [begin, *(f"  {change}" for change in changes)]


def _runner_up(nearest: NearestChange, said: tuple[Change, ...]) -> str:
    """The nearest other hint, and how it is reached where that was not `said` above."""
    largest = max(nearest.changes, key=lambda change: change.relative, default=None)
    far = percent(nearest.relative) if largest is None else _far_text(largest)
    line = f"runner-up: {nearest.hint.shown}, {far} away"
    if len(nearest.changes) == 1 and nearest.changes[0] in said:
        return line
    return f"{line} ({' and '.join(map(_change_text, nearest.changes))})"


def explanation_data(policy: RulePolicy, why: Explanation) -> dict[str, object]:
    """The explanation as plain values for JSON; null for NaN, ∞ and a hint that is not decided."""
    decision = why.decision
    return {
        "hint": str(decision.hint) if why.possible.decided else None,
        "rule": decision.rule,
        "margin": _finite(decision.margin),
        "runner_up": None if decision.runner_up is None else str(decision.runner_up),
        "values": {counter: _finite(value) for counter, value in why.values.items()},
        "missing": list(why.missing),
        "decided": why.possible.decided,
        "may_be": [str(hint) for hint in why.possible.hints],
        "depends_on": list(why.possible.lacking),
        "unknown": list(why.unknown),
        "rules": [
            {
                "rule": answer.index,
                "hint": str(policy.rules[answer.index].hint),
                "fires": answer.fires,
                "failing": [condition_text(condition) for condition in answer.failing],
            }
            for answer in why.rules
        ],
        "margins": [_change_data(change) for change in why.margins],
        "nearest": None
        if why.nearest is None
        else {
            "hint": str(why.nearest.hint),
            "relative": why.nearest.relative,
            "changes": [_change_data(change) for change in why.nearest.changes],
        },
    }


def _change_text(change: Change) -> str:
    relation = ">" if change.upwards else "<="
    return (
        f"{one_line(change.counter)} {relation} {number(change.edge)} "
        f"(measured {number(change.value)}, {_far_text(change)} away)"
    )


def _far_text(change: Change) -> str:
    """The distance relative to the value; of zero, which no percentage is of, the distance."""
    if change.value == 0:
        return number(abs(change.edge))
    return percent(change.relative)


def away_legend(lines: Iterable[str]) -> list[str]:
    """A line on distances in percent, where the lines have one."""
    if not any(" % away" in line for line in lines):
        return []
    return ["N % away: the value would have to change by N % of the measured value"]


def _change_data(change: Change) -> dict[str, object]:
    return {
        "counter": change.counter,
        "value": change.value,
        "edge": change.edge,
        "upwards": change.upwards,
        "relative": change.relative,
        "hint": str(change.hint),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
