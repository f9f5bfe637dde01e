"""A policy in other forms: `exported(policy, format)` gives the text of a file.

`c` is a header for programs that embed the policy, `python` a module without dependencies, `sql` an
expression over a table of samples, `markdown` for a report, `text` and `json` as shown and stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from autofinity.model.errors import ExportError
from autofinity.model.policy import Condition, OtherCounts, RulePolicy
from autofinity.policy import files
from autofinity.policy.readable import (
    condition_text,
    cores_text,
    hint_text,
    instead_text,
    number,
    policy_text,
    ratio_text,
    second_text,
)

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
    """A module with COUNTERS, `rule(sample)` and `decide(sample)`; with a second look `second`, and
    with answers for other thread counts `at(hint, threads)`.
    """
    second = policy.second
    looks = [policy] if second is None else [policy, second.policy]
    count = len(policy.counters)
    lines = [
        '"""Affinity policy learned by autofinity. No dependencies; see decide()."""',
        "",
        *(["import math", ""] if any(look.ratios for look in looks) else []),
        "COUNTERS = (" + "".join(f"{counter!r}, " for counter in policy.counters).strip() + ")",
        *_python_hints(policy, ""),
        "",
        "",
        "def values(sample):",
        f"    s = tuple(map(float, sample))\n    if len(s) != {count}:",
        f'        raise ValueError("expected {count} values")',
        "    return s",
        "",
        "",
        "def rule(sample):",
        '    """Rule that fires on values of COUNTERS (NaN: not measured), or -1."""',
        "    s = values(sample)",
        *_python_rules(policy),
        "",
        "",
        "def decide(sample):",
        '    """S: spread over sockets, L: over caches, P: sockets first; capitals are true."""',
        "    index = rule(sample)",
        "    return DEFAULT if index < 0 else HINTS[index]",
    ]
    if second is not None:
        lines += [
            "",
            "",
            f'SECOND_IN = "{second.sampled_in}"  # where the second sample is taken',
            f"SECOND_AFTER = {tuple(map(str, second.after))!r}  # answers of decide() to ask again",
            *_python_hints(second.policy, "SECOND_"),
            "",
            "",
            "def second(sample, probe):",
            '    """The last word: `probe` are the same counters in the affinity of SECOND_IN."""',
            "    index = second_rule(sample, probe)",
            "    return SECOND_DEFAULT if index < 0 else SECOND_HINTS[index]",
            "",
            "",
            "def second_rule(sample, probe):",
            "    s = values(probe) + values(sample)",
            *_python_rules(second.policy),
        ]
    if policy.other_counts is not None:
        lines += _python_other_counts(policy.other_counts)
    return "\n".join(lines) + "\n"


def _python_other_counts(other: OtherCounts) -> list[str]:
    entries = [
        f'    ("{entry.hint}", {entry.least}, {entry.most}, "{entry.better}"),'
        for entry in other.instead
    ]
    return [
        "",
        "",
        f'CORES = "{other.cores}"  # the machine that INSTEAD is true of',
        "INSTEAD = (  # hint, from, to threads, better hint",
        *entries,
        ")",
        "",
        "",
        "def at(hint, threads):",
        '    """What the last word means with so many threads, on a machine of CORES."""',
        "    for answer, least, most, better in INSTEAD:",
        "        if answer == hint and least <= threads <= most:",
        "            return better",
        "    return hint",
    ]


def _python_hints(policy: RulePolicy, prefix: str) -> list[str]:
    hints = "".join(f'"{rule.hint}", ' for rule in policy.rules).strip()
    return [
        f"{prefix}HINTS = ({hints})  # of the rules, in order",
        f'{prefix}DEFAULT = "{policy.default}"',
    ]


def _python_rules(policy: RulePolicy) -> list[str]:
    """The body that gives the rule for the values `s`."""

    def test(c: Condition) -> str:
        name = f"s[{policy.inputs.index(c.counter)}]"
        if c.lower == -math.inf:
            return f"{name} <= {_literal(c.upper)}" if c.upper < math.inf else f"{name} == {name}"
        upper = f" <= {_literal(c.upper)}" if c.upper < math.inf else ""
        return f"{_literal(c.lower)} < {name}{upper}"

    lines = []
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
    return [*lines, "    return -1"]


def _sql(policy: RulePolicy, prefix: str) -> str:
    """A CASE expression over columns named as the counters; NULL is not measured.

    It gives the first answer: a second look needs a sample that is not in the same row, and other
    thread counts one that knows its threads.
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
    text = _markdown_rules(policy)
    if policy.second is not None:
        text += f"\n{second_text(policy.second)}:\n\n{_markdown_rules(policy.second.policy)}"
    if policy.other_counts is not None:
        entries = "".join(f"* {instead_text(entry)}\n" for entry in policy.other_counts.instead)
        text += f"\n{cores_text(policy.other_counts)}:\n\n{entries}"
    return text


def _markdown_rules(policy: RulePolicy) -> str:
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
