"""A policy in other forms: `exported(policy, format)` gives the text of a file.

`c` is a header for programs that embed the policy, `python` a module without dependencies, `sql` an
expression over a table of samples, `markdown` for a report, `text` and `json` as shown and stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from autofinity.model.errors import ExportError
from autofinity.model.policy import Condition, RulePolicy
from autofinity.policy import files
from autofinity.policy.readable import condition_text, hint_text, number, policy_text, ratio_text

DEFAULT_PREFIX = "autofinity"


def exported(policy: RulePolicy, form: str, prefix: str = DEFAULT_PREFIX) -> str:
    """The policy in a format of `FORMATS`. `prefix` goes before every name in a C header, so that
    several policies fit into one program. Raises `ExportError`.
    """
    if form not in FORMATS:
        raise ExportError(f"format {form!r}: expected one of {', '.join(FORMATS)}")
    return FORMATS[form](policy, prefix)


def _c(policy: RulePolicy, prefix: str) -> str:
    from autofinity.policy.export_c import c_header

    return c_header(policy, prefix)


def _text(policy: RulePolicy, prefix: str) -> str:
    return policy_text(policy)


def _json(policy: RulePolicy, prefix: str) -> str:
    return files.dumps(policy)


def _python(policy: RulePolicy, prefix: str) -> str:
    """A module with COUNTERS, `rule(sample)` and `decide(sample)`."""

    def test(c: Condition) -> str:
        name = f"s[{policy.inputs.index(c.counter)}]"
        if c.lower == -math.inf:
            return f"{name} <= {_literal(c.upper)}" if c.upper < math.inf else f"{name} == {name}"
        upper = f" <= {_literal(c.upper)}" if c.upper < math.inf else ""
        return f"{_literal(c.lower)} < {name}{upper}"

    hints = ", ".join(f'"{rule.hint}"' for rule in policy.rules)
    lines = [
        '"""Affinity policy learned by autofinity. No dependencies; see decide()."""',
        "",
        *(["import math", ""] if policy.ratios else []),
        "COUNTERS = (" + "".join(f"{counter!r}, " for counter in policy.counters).strip() + ")",
        "HINTS = (" + (hints + "," if hints else "") + ")  # of the rules, in order",
        f'DEFAULT = "{policy.default}"',
        "",
        "",
        "def rule(sample):",
        '    """Rule that fires on values of COUNTERS (NaN: not measured), or -1."""',
        f"    s = tuple(map(float, sample))\n    if len(s) != {len(policy.counters)}:",
        f'        raise ValueError("expected {len(policy.counters)} values")',
    ]
    for ratio in policy.ratios:
        above, below = (
            " + ".join(f"s[{policy.counters.index(name)}]" for name in names)
            for names in (ratio.numerator, ratio.denominator)
        )
        lines += [
            f"    over = {below}",
            f"    s += ({_literal(ratio.scale)} * ({above}) / over if over > 0 else math.nan,)",
        ]
    for index, rule in enumerate(policy.rules):
        tests = " and ".join(map(test, rule.conditions)) or "True"
        lines += [f"    if {tests}:", f"        return {index}"]
    lines += [
        "    return -1",
        "",
        "",
        "def decide(sample):",
        '    """S: spread over sockets, L: over caches, P: sockets first; capitals are true."""',
        "    index = rule(sample)",
        "    return DEFAULT if index < 0 else HINTS[index]",
    ]
    return "\n".join(lines) + "\n"


def _sql(policy: RulePolicy, prefix: str) -> str:
    """A CASE expression over columns named as the counters; NULL is not measured."""

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
        return f"({_literal(ratio.scale)} * ({above}) / {positive})"

    def test(c: Condition) -> str:
        name = column(c.counter)
        parts = []
        if c.lower > -math.inf:
            parts.append(f"{name} > {_literal(c.lower)}")
        if c.upper < math.inf:
            parts.append(f"{name} <= {_literal(c.upper)}")
        return " AND ".join(parts) or f"{name} IS NOT NULL"

    lines = [
        f"  WHEN {' AND '.join(map(test, rule.conditions)) or '1 = 1'} THEN '{rule.hint}'"
        for rule in policy.rules
    ]
    if not lines:
        return f"'{policy.default}'\n"
    return "\n".join(["CASE", *lines, f"  ELSE '{policy.default}'", "END"]) + "\n"


def _markdown(policy: RulePolicy, prefix: str) -> str:
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


def _literal(value: float) -> str:
    """Shortest decimal that reads back as the same double."""
    return repr(float(value))


FORMATS: Mapping[str, Callable[[RulePolicy, str], str]] = {
    "c": _c,
    "json": _json,
    "text": _text,
    "python": _python,
    "sql": _sql,
    "markdown": _markdown,
}
