"""A policy as text that a person can read; names of counters and provenance are made printable."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping

from autofinity.foreign_text import one_line
from autofinity.model.affinity import HINTS, Hint
from autofinity.model.facts import FACTS
from autofinity.model.policy import (
    Condition,
    Instead,
    OtherCounts,
    RulePolicy,
    SecondLook,
    Trial,
)
from autofinity.model.ratios import Ratio
from autofinity.policy.lacking import lacking_lines
from autofinity.policy.sentences import sentence

_NOTES = "notes"
type Quote = Callable[[str], str]
"""Conversion of a name to the form in which it may stand in the text."""


def policy_text(policy: RulePolicy) -> str:
    """The whole policy: counters, rules in order, default, origin, notes on the learning."""
    lines = ["counters (per thread and second):"]
    lines.extend(f"  {one_line(counter)}{_cuts(policy, counter)}" for counter in policy.counters)
    if not policy.counters:
        lines.append("  none")
    if policy.facts:
        lines.append("facts of the machine, for the given threads:")
        lines.extend(f"  {fact}: {FACTS[fact]}" for fact in policy.facts)
    lines.extend(_rules(policy))
    used = {rule.hint for rule in policy.rules} | {policy.default}
    if policy.second is not None:
        lines.append(f"{second_text(policy.second)}:")
        lines.extend(f"  {line}" for line in _rules(policy.second.policy))
        again = policy.second.policy
        used |= {rule.hint for rule in again.rules} | {again.default, policy.second.sampled_in}
    if policy.trial is not None:
        lines.append(trial_text(policy.trial))
        lines.extend(_unused_bounds(policy.trial))
        used.add(policy.trial.hint)
    if policy.other_counts is not None:
        lines.append(f"{cores_text(policy.other_counts)}:")
        lines.extend(f"  {instead_text(entry)}" for entry in policy.other_counts.instead)
        used |= {entry.better for entry in policy.other_counts.instead}
    if policy.counters:
        lines.append("where a counter cannot be measured:")
        lines.extend(f"  {line}" for line in lacking_lines(policy))
    if any(rule.covered for rule in policy.rules):
        lines.append(weight_text(policy))
    lines.append("hints:")
    lines.extend(f"  {hint.shown}: {hint_text(hint)}" for hint in HINTS if hint in used)
    lines.extend(_origin(policy.provenance))
    return "\n".join(lines) + "\n"


def _origin(provenance: Mapping[str, object]) -> list[str]:
    """Data that the policy was made of, and notes on the learning."""
    lines = []
    made_of = [
        f"  {one_line(f'{key}: {_plain(value)}')}"
        for key, value in provenance.items()
        if key != _NOTES
    ]
    if made_of:
        lines += ["made of:", *made_of]
    notes = provenance.get(_NOTES) or ()
    if notes:
        some = notes if isinstance(notes, list | tuple) else (notes,)
        lines += ["notes:", *(f"  {one_line(str(note))}" for note in some)]
    return lines


def _rules(policy: RulePolicy) -> list[str]:
    """Ratios, rules and default of one look."""
    lines = []
    if policy.ratios:
        lines.append("ratios of them:")
        lines.extend(f"  {ratio_text(ratio)}{_cuts(policy, ratio.name)}" for ratio in policy.ratios)
    lines.append("rules, the first that holds decides:")
    for index, rule in enumerate(policy.rules):
        where = " and ".join(map(condition_text, rule.conditions)) or "always"
        right = ""
        if rule.covered:
            right = f"   (weight {number(rule.covered)}, of it wrong {number(rule.wrong)})"
        lines.append(f"  {index + 1:>3}. {rule.hint.shown}  if {where}{right}")
        if said := sentence(rule):
            lines.append(f"       {said}")
    lines.append(f"  else {policy.default.shown}")
    return lines


def weight_text(policy: RulePolicy) -> str:
    """Meaning of the weights of rules."""
    settings = policy.provenance.get("settings") or policy.provenance.get("rules")
    weighting = settings.get("weighting") if isinstance(settings, Mapping) else None
    each = _WEIGHTING.get(str(weighting), "")
    return (
        f"weight of a rule: of the training cases that it decides{each}; wrong: of those with "
        "another best hint"
    )


_WEIGHTING = {
    "stake": ", a case weighing more, the more its best and its worst hint differ",
    "observations": ", a case weighing 1 for each time that it was observed",
    "none": ", each weighing 1",
}


def second_text(second: SecondLook) -> str:
    """When and where a second look is taken."""
    others = [hint for hint in HINTS if hint not in second.after]
    if not others:
        return f"after any hint, sample again in {second.sampled_in.shown}"
    named = others if len(others) < len(second.after) else second.after
    after = "any hint but " * (named is others) + ", ".join(hint.shown for hint in named)
    return f"after {after}, sample again in {second.sampled_in.shown}"


def trial_text(trial: Trial) -> str:
    """Which hint is tried, and when threads stay, in one line."""
    return " ".join(trial_sentences(trial))


def trial_sentences(trial: Trial) -> tuple[str, str]:
    """Which hint is tried, and when threads stay."""
    return (
        f"Then try {trial.hint.shown}.",
        f"Threads stay if they are more than {number(trial.faster)} times as fast as before.",
    )


def _unused_bounds(trial: Trial) -> list[str]:
    if trial.unused_bounds is None:
        return []
    above, upto = map(number, trial.unused_bounds)
    return [
        f"the file's bounds of the trial, {above} < speed <= {upto}, are not used: since version 7 "
        "of policies a trial needs none"
    ]


def cores_text(other: OtherCounts) -> str:
    """On which machine other thread counts mean other hints."""
    return f"with other thread counts, on a machine of the cores {other.cores}"


def instead_text(entry: Instead) -> str:
    """A line such as `16 to 24 threads: spread (SLP) instead of packed (slp)`."""
    count = str(entry.least) if entry.least == entry.most else f"{entry.least} to {entry.most}"
    return f"{count} threads: {entry.better.shown} instead of {entry.hint.shown}"


def _cuts(policy: RulePolicy, name: str) -> str:
    """Cut points of an input; empty for a counter that only ratios use."""
    if name not in policy.cut_points and policy.ratios:
        return ""
    cuts = ", ".join(number(cut) for cut in policy.cut_points.get(name, ()))
    return f"   cut at {cuts}" if cuts else "   not cut"


def ratio_text(ratio: Ratio, quoted: Quote = one_line) -> str:
    """A line such as `misses_pki = 1000 (misses) / (instructions)`, with the fact that the ratio
    may be divided by.
    """
    above, below = (
        " + ".join(map(quoted, names)) for names in (ratio.numerator, ratio.denominator)
    )
    scale = "" if ratio.scale == 1 else f"{number(ratio.scale)} "
    over = f" / {quoted(ratio.fact)}" if ratio.fact else ""
    return f"{quoted(ratio.name)} = {scale}({above}) / ({below}){over}"


def condition_text(condition: Condition, quoted: Quote = one_line) -> str:
    """Text such as `1.5e6 < dcache_accesses <= 3e7`, or with one bound only."""
    lower, upper, counter = condition.lower, condition.upper, quoted(condition.counter)
    if lower == -math.inf and upper == math.inf:
        return f"{counter} was measured"
    if lower == -math.inf:
        return f"{counter} <= {number(upper)}"
    if upper == math.inf:
        return f"{counter} > {number(lower)}"
    return f"{number(lower)} < {counter} <= {number(upper)}"


def hint_text(hint: Hint) -> str:
    """A hint in words."""
    sockets = "many sockets" if hint.spread_sockets else "few sockets"
    llcs = "own last-level caches" if hint.spread_llcs else "shared last-level caches"
    first, second = (sockets, llcs) if hint.socket_first else (llcs, sockets)
    return f"{first} first, then {second}"


def hints_key(hints: Collection[Hint]) -> str:
    """Key to the letters in a table: `hints: spread (SLP), packed (slp)`, in documented order."""
    return f"hints: {', '.join(hint.shown for hint in HINTS if hint in hints)}"


def number(value: float) -> str:
    """A number with four significant digits: for reading, never for storing."""
    return f"{value:.4g}"


def literal(value: float) -> str:
    """Shortest decimal that reads back as the same double."""
    return repr(float(value))


def percent(relative: float) -> str:
    """A relative distance as text: `12 %`."""
    return "∞" if math.isinf(relative) else f"{100 * relative:.3g} %"


def _plain(value: object) -> str:
    if value is None or value in ("", (), [], {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_plain, value))
    return str(value)
