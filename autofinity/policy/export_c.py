"""A policy as one self-contained C99 header that also compiles as C++.

Edges are written with as many digits as give back the same double. Hexadecimal constants would be
simpler to prove exact, but C++ before 17 does not know them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path

from autofinity.model.affinity import HINTS
from autofinity.model.errors import ExportError
from autofinity.model.policy import Condition, RulePolicy, SecondLook, Trial
from autofinity.model.ratios import SPEEDUP, START, Ratio
from autofinity.policy.readable import condition_text, literal


def c_header(policy: RulePolicy, prefix: str = "autofinity") -> str:
    """The header's text. Every name starts with `prefix`; only the enumeration of hints is shared.

    Functions `PREFIX_decide`, `PREFIX_rule`, `PREFIX_counters`; constants `PREFIX_counter_count`
    and `PREFIX_rule_count`. With a second look also `PREFIX_asks_second`, `PREFIX_second_in`,
    `PREFIX_second` and `PREFIX_second_rule`, with a trial `PREFIX_tries`, `PREFIX_trial_in` and
    `PREFIX_trial`, with answers for other thread counts `PREFIX_at`.
    Raises `ExportError` for a prefix that is no C identifier.
    """
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ExportError(
            f"prefix {prefix!r}: expected a C identifier: a letter, then letters, digits and _"
        )
    import jinja2

    source = (Path(__file__).parent / "templates" / "policy.h.j2").read_text(encoding="utf-8")
    environment = jinja2.Environment(  # C, not HTML: nothing to escape but what is below
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        autoescape=False,
    )
    return environment.from_string(source).render(
        prefix=prefix,
        provenance=[_comment(line) for line in _provenance(policy)],
        counters=[
            {"text": _string(counter), "sample": _comment(counter)} for counter in policy.counters
        ],
        hints=[str(hint) for hint in HINTS],
        first=_look(policy),
        second=None if policy.second is None else _second(policy.second),
        trial=None if policy.trial is None else _trial(policy, policy.trial),
        other=policy.other_counts,
    )


def _second(second: SecondLook) -> dict[str, object]:
    return {
        **_look(second.policy),
        "sampled_in": str(second.sampled_in),
        "after": [str(hint) for hint in second.after],
    }


def _trial(policy: RulePolicy, trial: Trial) -> dict[str, str]:
    speed = policy.counters.index(SPEEDUP.numerator[0])
    return {
        "hint": str(trial.hint),
        "speed": f"[{speed}]",
        "faster": _double(trial.faster),
    }


def _look(policy: RulePolicy) -> dict[str, object]:
    """Ratios, rules and default of one look."""
    return {
        "ratios": [_ratio(policy, ratio) for ratio in policy.ratios],
        "rules": [
            {
                "hint": str(rule.hint),
                "test": " && ".join(_test(policy, c) for c in rule.conditions) or "1",
                "comment": _comment(
                    f"{rule.hint} if {' and '.join(map(condition_text, rule.conditions))}"
                ),
            }
            for rule in policy.rules
        ],
        "default": str(policy.default),
    }


def _value(policy: RulePolicy, name: str) -> str:
    """C expression for a counter or a ratio; `looked_at` names the counters of a second look."""
    index = policy.inputs.index(name)
    counters = len(policy.counters)
    if index >= counters:
        return f"ratio[{index - counters}]"
    if not any(counter.startswith(START) for counter in policy.counters):
        return f"sample[{index}]"
    own = counters // 2
    return f"probe[{index}]" if index < own else f"sample[{index - own}]"


def _ratio(policy: RulePolicy, ratio: Ratio) -> dict[str, str]:
    """The operations of `Ratio.of` in the same order, so that both agree on every bit."""
    above, below = (
        " + ".join(_value(policy, name) for name in names)
        for names in (ratio.numerator, ratio.denominator)
    )
    value = f"{_double(ratio.scale)} * ({above}) / ({below})"
    return {"name": _comment(ratio.name), "over": below, "value": value}


def _test(policy: RulePolicy, condition: Condition) -> str:
    """The same comparisons as `Condition.holds`, so that NaN and ±∞ agree."""
    value = _value(policy, condition.counter)
    parts = []
    if condition.lower > -math.inf:
        parts.append(f"{value} > {_double(condition.lower)}")
    if condition.upper < math.inf:
        parts.append(f"{value} <= {_double(condition.upper)}")
    return " && ".join(parts) or f"{value} == {value}"


def _double(value: float) -> str:
    """A floating constant that reads back as exactly this double."""
    text = literal(value)
    return text if any(mark in text for mark in ".e") else text + ".0"


def _string(text: str) -> str:
    """A C string literal of the UTF-8 bytes. Octal escapes cannot merge with the next character."""
    plain = "".join(
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\?' else f"\\{byte:03o}"
        for byte in text.encode()
    )
    return f'"{plain}"'


def _comment(text: str) -> str:
    """Text that is safe anywhere in a comment.

    Without asterisks no comment ends or begins; without backslashes and question marks no line
    continues, not by a trigraph either.
    """
    return re.sub(r"[^ -~]|[*\\?]", "_", text)


def _provenance(policy: RulePolicy) -> list[str]:
    """Origin of the policy, the short facts only."""
    return [
        f"{key}: {value}"
        for key, value in policy.provenance.items()
        if isinstance(value, str | int | float) and len(str(value)) <= 120
    ]
