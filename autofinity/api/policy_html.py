"""The rules of a policy as a table of a notebook."""

from __future__ import annotations

from autofinity.api.html import lines_html, table_html
from autofinity.model.policy import RulePolicy
from autofinity.policy.readable import (
    condition_text,
    number,
    ratio_text,
    second_text,
    trial_text,
)
from autofinity.policy.sentences import sentence


def policy_html(policy: RulePolicy) -> str:
    """The rules of each look, and the trial."""
    rows = [
        (
            str(index + 1),
            " and ".join(map(condition_text, rule.conditions)) or "always",
            sentence(rule) or "",
            rule.hint.shown,
            f"{number(rule.covered)}, {number(rule.wrong)}",
        )
        for index, rule in enumerate(policy.rules)
    ]
    rows.append(("else", "", "", policy.default.shown, ""))
    said = lines_html(map(ratio_text, policy.ratios)) if policy.ratios else ""
    said += table_html(("", "if", "in words", "hint", "weight, of it wrong"), rows)
    if policy.second is not None:
        again = policy_html(policy.second.policy)
        said += lines_html([f"{second_text(policy.second)}:"]) + again
    if policy.trial is not None:
        said += lines_html([trial_text(policy.trial)])
    return said
