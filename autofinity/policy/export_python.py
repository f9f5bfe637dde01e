"""A policy as a Python module without dependencies."""

from __future__ import annotations

import math

from autofinity.model.policy import Condition, OtherCounts, RulePolicy, Trial
from autofinity.model.ratios import SPEEDUP
from autofinity.policy.readable import literal


def python_module(policy: RulePolicy) -> str:
    """A module with COUNTERS, `rule(sample)` and `decide(sample)`.

    With a second look the module has `second`, with a trial `TRIAL_IN`, `tries` and `trial`, and
    with answers for other thread counts `at(hint, threads)`.
    """
    second = policy.second
    looks = [policy] if second is None else [policy, second.policy]
    count = len(policy.counters)
    lines = [
        '"""Affinity policy learned by autofinity. No dependencies; see decide()."""',
        "",
        *(["import math", ""] if policy.trial or any(look.ratios for look in looks) else []),
        "COUNTERS = (" + "".join(f"{counter!a}, " for counter in policy.counters).strip() + ")",
        *_hints(policy, ""),
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
        *_rules(policy),
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
            *_hints(second.policy, "SECOND_"),
            "",
            "",
            "def second(sample, probe):",
            '    """The answer; `probe` has the same counters in the affinity SECOND_IN."""',
            "    index = second_rule(sample, probe)",
            "    return SECOND_DEFAULT if index < 0 else SECOND_HINTS[index]",
            "",
            "",
            "def second_rule(sample, probe):",
            "    s = values(probe) + values(sample)",
            *_rules(second.policy),
        ]
    if policy.trial is not None:
        lines += _trial(policy, policy.trial)
    if policy.other_counts is not None:
        lines += _other_counts(policy.other_counts)
    return "\n".join(lines) + "\n"


def _trial(policy: RulePolicy, trial: Trial) -> list[str]:
    speed = policy.counters.index(SPEEDUP.numerator[0])
    return [
        "",
        "",
        f'TRIAL_IN = "{trial.hint}"  # one more affinity, tried after both',
        "",
        "",
        "def speedup(sample, probe):",
        f"    before, after = values(sample)[{speed}], values(probe)[{speed}]",
        "    return 1.0 * after / before if before > 0 else math.nan",
        "",
        "",
        "def tries(sample, probe):",
        '    """Whether a trial follows: where the speed of both looks is known."""',
        "    return not math.isnan(speedup(sample, probe))",
        "",
        "",
        "def trial(answer, answered, tried):",
        '    """The final answer, from samples in the affinities of `answer` and TRIAL_IN."""',
        f"    return TRIAL_IN if speedup(answered, tried) > {literal(trial.faster)} else answer",
    ]


def _other_counts(other: OtherCounts) -> list[str]:
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
        '    """The better hint for this many threads, on a machine of CORES."""',
        "    for answer, least, most, better in INSTEAD:",
        "        if answer == hint and least <= threads <= most:",
        "            return better",
        "    return hint",
    ]


def _hints(policy: RulePolicy, prefix: str) -> list[str]:
    hints = "".join(f'"{rule.hint}", ' for rule in policy.rules).strip()
    return [
        f"{prefix}HINTS = ({hints})  # of the rules, in order",
        f'{prefix}DEFAULT = "{policy.default}"',
    ]


def _rules(policy: RulePolicy) -> list[str]:
    """The function body that returns the rule for the values `s`."""

    def test(c: Condition) -> str:
        name = f"s[{policy.inputs.index(c.counter)}]"
        if c.lower == -math.inf:
            return f"{name} <= {literal(c.upper)}" if c.upper < math.inf else f"{name} == {name}"
        upper = f" <= {literal(c.upper)}" if c.upper < math.inf else ""
        return f"{literal(c.lower)} < {name}{upper}"

    lines = []
    for ratio in policy.ratios:
        above, below = (
            " + ".join(f"s[{policy.counters.index(name)}]" for name in names)
            for names in (ratio.numerator, ratio.denominator)
        )
        lines += [
            f"    over = {below}",
            f"    s += ({literal(ratio.scale)} * ({above}) / over if over > 0 else math.nan,)",
        ]
    for index, rule in enumerate(policy.rules):
        tests = " and ".join(map(test, rule.conditions)) or "True"
        lines += [f"    if {tests}:", f"        return {index}"]
    return [*lines, "    return -1"]
