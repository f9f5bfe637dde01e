"""A policy for a report."""

from __future__ import annotations

from autofinity.model.policy import RulePolicy
from autofinity.policy.readable import (
    condition_text,
    cores_text,
    hint_text,
    instead_text,
    number,
    ratio_text,
    second_text,
)


def markdown(policy: RulePolicy) -> str:
    """Its rules as tables."""
    text = _rules(policy)
    if policy.second is not None:
        text += f"\n{second_text(policy.second)}:\n\n{_rules(policy.second.policy)}"
    if policy.other_counts is not None:
        entries = "".join(f"* {instead_text(entry)}\n" for entry in policy.other_counts.instead)
        text += f"\n{cores_text(policy.other_counts)}:\n\n{entries}"
    return text


def _rules(policy: RulePolicy) -> str:
    lines = [f"* {ratio_text(ratio)}" for ratio in policy.ratios]
    lines += [""] if lines else []
    lines += ["| rule | if | hint | meaning | covered | wrong |", "|---|---|---|---|---|---|"]
    for index, rule in enumerate(policy.rules):
        where = " and ".join(map(condition_text, rule.conditions)).replace("|", "\\|") or "always"
        lines.append(
            f"| {index + 1} | {where} | {rule.hint} | {hint_text(rule.hint)} "
            f"| {number(rule.covered)} | {number(rule.wrong)} |"
        )
    lines.append(f"| else | | {policy.default} | {hint_text(policy.default)} | | |")
    return "\n".join(lines) + "\n"
