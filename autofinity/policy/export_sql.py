"""A policy as an SQL expression over a table of samples."""

from __future__ import annotations

import math

from autofinity.model.policy import Condition, RulePolicy
from autofinity.policy.readable import literal


def sql_expression(policy: RulePolicy) -> str:
    """A CASE expression over columns named as the counters; NULL means not measured.

    The expression gives the first answer only: a second look and a trial need samples that are not
    in the same row, and answers for other thread counts need the number of threads.
    """

    def quoted(counter: str) -> str:
        return '"' + counter.replace('"', '""') + '"'

    def column(name: str) -> str:
        ratio = next((ratio for ratio in policy.ratios if ratio.name == name), None)
        if ratio is None:
            return quoted(name)
        above, below = (
            " + ".join(map(quoted, names)) for names in (ratio.numerator, ratio.denominator)
        )
        positive = f"CASE WHEN {below} > 0 THEN {below} END"
        return f"({literal(ratio.scale)} * ({above}) / {positive})"

    def test(c: Condition) -> str:
        name = column(c.counter)
        parts = []
        if c.lower > -math.inf:
            parts.append(f"{name} > {literal(c.lower)}")
        if c.upper < math.inf:
            parts.append(f"{name} <= {literal(c.upper)}")
        return " AND ".join(parts) or f"{name} IS NOT NULL"

    lines = [
        f"  WHEN {' AND '.join(map(test, rule.conditions)) or '1 = 1'} THEN '{rule.hint}'"
        for rule in policy.rules
    ]
    note = _FIRST_ONLY if policy.second is not None else []
    if not lines:
        return "\n".join([*note, f"'{policy.default}'"]) + "\n"
    return "\n".join([*note, "CASE", *lines, f"  ELSE '{policy.default}'", "END"]) + "\n"


_FIRST_ONLY = [
    "-- The first answer. The policy asks for further samples of a run before its final",
    "-- answer: export it as c or python for that.",
]
