"""A policy for a report."""

from __future__ import annotations

import re

from autofinity.foreign_text import one_line
from autofinity.model.policy import RulePolicy
from autofinity.policy.readable import (
    condition_text,
    cores_text,
    hint_text,
    instead_text,
    number,
    ratio_text,
    second_text,
    trial_text,
    weight_text,
)


def markdown(policy: RulePolicy) -> str:
    """The policy's rules as tables."""
    text = _rules(policy)
    if policy.second is not None:
        text += f"\n{second_text(policy.second)}:\n\n{_rules(policy.second.policy)}"
    if policy.trial is not None:
        text += f"\n{trial_text(policy.trial)}\n"
    if policy.other_counts is not None:
        entries = "".join(f"* {instead_text(entry)}\n" for entry in policy.other_counts.instead)
        text += f"\n{cores_text(policy.other_counts)}:\n\n{entries}"
    if any(rule.covered for rule in policy.rules):
        text += f"\n{weight_text(policy)}\n"
    return text


def _rules(policy: RulePolicy) -> str:
    lines = [f"* {ratio_text(ratio, _quoted)}" for ratio in policy.ratios]
    lines += [""] if lines else []
    lines += ["| rule | if | hint | meaning | weight | of it wrong |", "|---|---|---|---|---|---|"]
    for index, rule in enumerate(policy.rules):
        where = " and ".join(condition_text(c, _quoted) for c in rule.conditions) or "always"
        lines.append(
            f"| {index + 1} | {where} | {rule.hint.shown} | {hint_text(rule.hint)} "
            f"| {number(rule.covered)} | {number(rule.wrong)} |"
        )
    lines.append(f"| else | | {policy.default.shown} | {hint_text(policy.default)} | | |")
    return "\n".join(lines) + "\n"


_IN_WORDS_OR_MARK = re.compile(r"(?<=[^\W_])([_.])(?=[^\W_])|([!-/:-@\[-`{-~])")


def _quoted(name: str) -> str:
    """A name as CommonMark shows it: every mark has a backslash, except `_` and `.` in words."""
    return _IN_WORDS_OR_MARK.sub(lambda found: found[1] or f"\\{found[2]}", one_line(name))
