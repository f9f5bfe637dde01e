"""Conditions of rules as sentences with units, in an engineer's words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from autofinity.foreign_text import one_line
from autofinity.model.policy import Condition, Rule

type Unit = Callable[[float], str]


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _plain(value: float) -> str:
    return f"{value:.3g}"


_LEAVE = "of the requests that leave a core"
_PKI = "per 1,000 instructions"

_PHRASES: Mapping[str, tuple[str, Unit]] = {
    "other_cache_share": (f"caches of other LLC domains answer {{}} {_LEAVE}", _percent),
    "other_package_share": (f"caches of other packages answer {{}} {_LEAVE}", _percent),
    "other_core_share": (f"other cores' caches answer {{}} {_LEAVE}", _percent),
    "other_cache_miss_share": ("caches of other LLC domains answer {} of the LLC misses", _percent),
    "llc_miss_share": (f"the own LLC misses {{}} {_LEAVE}", _percent),
    "modify_share": (f"{{}} {_LEAVE} ask for ownership", _percent),
    "remote_memory_share": ("{} of the lines read from memory are another node's", _percent),
    "llc_requests_pki": (f"{{}} requests leave a core {_PKI}", _plain),
    "llc_misses_pki": (f"there are {{}} LLC misses {_PKI}", _plain),
    "other_cache_pki": (f"{{}} lines {_PKI} come from caches of other LLC domains", _plain),
    "other_core_pki": (f"{{}} lines {_PKI} come from other cores' caches", _plain),
    "memory_reads_pki": (f"{{}} lines {_PKI} are read from memory", _plain),
    "memory_reads_pkc": ("{} lines per 1,000 clocks are read from memory", _plain),
    "packed_path_share": (
        "packed, the threads would ask for {} of what their memory paths carry",
        _percent,
    ),
    "far_transfer_share": (
        "lines from other LLC domains take {} of the time longer than from the own one",
        _percent,
    ),
    "page_walks_pki": (f"there are {{}} page walks {_PKI}", _plain),
    "ipc": ("{} instructions end per clock", _plain),
    "speed_gain": ("there, threads are {} times as fast as at the start", _plain),
    "running_gain": ("there, threads run {} times as much of the time as at the start", _plain),
    "llc_requests_gain": (
        "there, {} times as many requests a second leave a core as at the start",
        _plain,
    ),
    "llc_misses_gain": ("there, the LLC misses {} times as often a second as at the start", _plain),
}
"""Sentence of each ratio, with a place for its value, and the unit of the value."""


def sentence(rule: Rule) -> str:
    """Conditions under which a rule decides: `packed, each thread has at most 1 MiB of LLC, and …`.

    Empty for a rule with an input whose meaning is not known here.
    """
    if any(condition.counter not in _PHRASES for condition in rule.conditions):
        return ""
    return ", and ".join(map(_said, rule.conditions))


def value_sentence(name: str, value: float) -> str:
    """A measured value with its unit, such as `12 % of the lines read from memory are another
    node's`; of a name whose meaning is not known here, the number alone.
    """
    phrase, unit = _PHRASES.get(name, ("{}", _plain))
    return one_line(phrase.format(unit(value)))


def is_share(name: str) -> bool:
    """Whether the values of an input are shares, from 0 to 1."""
    return name in _PHRASES and _PHRASES[name][1] is _percent


def _said(condition: Condition) -> str:
    phrase, unit = _PHRASES[condition.counter]
    return one_line(phrase.format(_bounds(condition, unit)))


def _bounds(condition: Condition, unit: Unit) -> str:
    lower, upper = condition.lower, condition.upper
    if math.isinf(lower) and math.isinf(upper):
        return "any share" if unit is _percent else "any number of"
    if math.isinf(lower):
        return f"at most {unit(upper)}"
    if math.isinf(upper):
        return f"more than {unit(lower)}"
    return f"{unit(lower)} to {unit(upper)}"
