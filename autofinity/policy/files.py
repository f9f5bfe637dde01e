"""Policies as JSON files, versioned, checked field by field when read.

    {"format": "autofinity-policy", "version": 4,
     "counters": ["llc_misses", "instructions", …],
     "ratios": [{"name": "llc_misses_pki", "numerator": ["llc_misses"],
                 "denominator": ["instructions"], "scale": 1000.0}, …],
     "cut_points": {"llc_misses_pki": [1.5, 20.0], …},
     "rules": [{"hint": "sLP", "when": [{"counter": "llc_misses_pki", "above": 1.5, "upto": null}],
                "covered": 120.0, "wrong": 3.0}, …],
     "default": "SLP",
     "second": {"sampled_in": "slP", "after": ["slP", "sLP"],
                "ratios": […], "cut_points": {…}, "rules": […], "default": "slP"},
     "other_counts": {"cores": "{6,6}{6,6}{6,6}{6,6}",
                      "instead": [{"hint": "slP", "threads": [15, 32], "better": "Slp"}, …]},
     "provenance": {…}}

Version 1 has no ratios, version 2 no second look, version 3 no other thread counts (null: none);
all are read, too. On a machine of `cores`, an answer means another hint from and up to so many
`threads`. A second look may name `start.llc_misses`, the counter's value in the first sample. A
condition is above < value <= upto, of a counter or a ratio of them (`model.ratios`); null is an
open end.
Numbers are finite: JSON has no NaN or ∞, and provenance holds them as the strings "NaN",
"Infinity", "-Infinity". The same rules as `policies/schema/policy.schema.json`; checked by hand,
since the run-time monitor reads policies too and shall not load a validator.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Never

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import PolicyError
from autofinity.model.policy import (
    POLICY_VERSION,
    Condition,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    looked_at,
)
from autofinity.model.ratios import START, Ratio
from autofinity.whole_file import replace_file

FORMAT = "autofinity-policy"
LARGEST_FILE_BYTES = 16 * 1024 * 1024
MOST_THREADS = 1 << 20
_FIELDS = ("format", "version", "counters", "cut_points", "rules", "default", "provenance")
_ADDED = ("ratios", "second", "other_counts")
_FIELDS_OF = {
    version: (*_FIELDS, *_ADDED[: version - 1]) for version in range(1, POLICY_VERSION + 1)
}
_SECOND_FIELDS = ("sampled_in", "after", "ratios", "cut_points", "rules", "default")


def save(policy: RulePolicy, path: Path | str) -> None:
    """Write a policy; the file appears complete or not at all. Raises `PolicyError`."""
    write_text(path, dumps(policy))


def load(path: Path | str) -> RulePolicy:
    """Read a policy. Raises `PolicyError` naming the file and the field that is wrong."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise PolicyError(f"cannot read the policy {path}: {error.strerror}") from error
    return loads(data, str(path))


def dumps(policy: RulePolicy) -> str:
    """A policy as JSON text. Raises `PolicyError` for one that `loads` would not take."""
    document = {
        "format": FORMAT,
        "version": policy.version,
        "counters": list(policy.counters),
        **_rules_document(policy),
        "second": None if policy.second is None else _second_document(policy.second),
        "other_counts": _other_counts_document(policy.other_counts),
        "provenance": _writable(policy.provenance, "provenance"),
    }
    if policy.version < 4 and policy.other_counts is None:
        del document["other_counts"]
    if policy.version < 3 and policy.second is None:
        del document["second"]
    if policy.version < 2 and not policy.ratios:
        del document["ratios"]
    try:
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    except ValueError as error:
        raise PolicyError(f"the policy holds a number that is not finite: {error}") from error
    loads(text.encode(), "the policy to be written")
    return text


def _second_document(second: SecondLook) -> dict[str, object]:
    return {
        "sampled_in": str(second.sampled_in),
        "after": [str(hint) for hint in second.after],
        **_rules_document(second.policy),
    }


def _other_counts_document(other: OtherCounts | None) -> dict[str, object] | None:
    if other is None:
        return None
    return {
        "cores": str(other.cores),
        "instead": [
            {
                "hint": str(entry.hint),
                "threads": [entry.least, entry.most],
                "better": str(entry.better),
            }
            for entry in other.instead
        ],
    }


def _rules_document(policy: RulePolicy) -> dict[str, object]:
    """What both looks have: ratios, cut points, rules and a default."""
    return {
        "ratios": [
            {
                "name": ratio.name,
                "numerator": list(ratio.numerator),
                "denominator": list(ratio.denominator),
                "scale": ratio.scale,
            }
            for ratio in policy.ratios
        ],
        "cut_points": {name: list(cuts) for name, cuts in policy.cut_points.items()},
        "rules": [
            {
                "hint": str(rule.hint),
                "when": [
                    {"counter": c.counter, "above": _open(c.lower), "upto": _open(c.upper)}
                    for c in rule.conditions
                ],
                "covered": rule.covered,
                "wrong": rule.wrong,
            }
            for rule in policy.rules
        ],
        "default": str(policy.default),
    }


def loads(data: bytes, name: str = "the policy") -> RulePolicy:
    """A policy from JSON; `name` is for messages. Raises `PolicyError`."""
    return _Reader(name).policy(data)


def write_text(path: Path | str, text: str) -> None:
    """Replace a file as a whole. Raises `PolicyError`."""
    try:
        replace_file(Path(path), text)
    except OSError as error:
        raise PolicyError(f"cannot write {path}: {error.strerror}; what was there is kept") from (
            error
        )


def _open(bound: float) -> float | None:
    return None if math.isinf(bound) else bound


def _writable(value: object, where: str) -> object:
    """Provenance as JSON: tuples become lists, NaN and ∞ their names."""
    if isinstance(value, Mapping):
        return {str(key): _writable(part, f"{where}.{key}") for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_writable(part, where) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | int | float):
        return value
    raise PolicyError(
        f"{where} holds a {type(value).__name__}, expected text, numbers, lists and mappings"
    )


class _Reader:
    """Checks and builds, knowing the file's name for every message."""

    def __init__(self, name: str) -> None:
        self.name = name

    def wrong(self, field: str, problem: str) -> Never:
        raise PolicyError(
            f"{self.name}: {field}: {problem}. Learn the policy again with `autofinity train`, "
            "or repair the file (schema: policies/schema/policy.schema.json)"
        )

    def policy(self, data: bytes) -> RulePolicy:
        if len(data) > LARGEST_FILE_BYTES:
            self.wrong("size", f"more than {LARGEST_FILE_BYTES >> 20} MiB, which is no policy")
        try:
            document = json.loads(
                data.decode("utf-8"), parse_constant=self._constant, object_pairs_hook=self._unique
            )
        except (ValueError, RecursionError) as error:
            self.wrong("content", f"no JSON ({error})")
        top = self._object(document, "the whole", None)
        if top.get("format") != FORMAT:
            self.wrong("format", f"got {_show(top.get('format'))}, expected {FORMAT!r}")
        version = top.get("version")
        if type(version) is int and version > POLICY_VERSION:
            raise PolicyError(
                f"{self.name}: version {version} is newer than {POLICY_VERSION}, the newest this "
                "autofinity knows; update autofinity"
            )
        if type(version) is not int or version < 1:
            self.wrong("version", f"got {_show(version)}, expected {POLICY_VERSION}")
        self._object(document, "the whole", _FIELDS_OF[version])
        counters = self._counters(top["counters"])
        return replace(
            self._rules(top, "", counters),
            provenance=self._object(top["provenance"], "provenance", None),
            version=version,
            second=self._second(top.get("second"), counters),
            other_counts=self._other_counts(top.get("other_counts")),
        )

    def _rules(self, look: dict[str, object], prefix: str, counters: tuple[str, ...]) -> RulePolicy:
        """Ratios, cut points, rules and default of one look; `prefix` is for messages."""
        ratios = self._ratios(look.get("ratios", []), f"{prefix}ratios", counters)
        inputs = (*counters, *(ratio.name for ratio in ratios))
        return RulePolicy(
            counters=counters,
            cut_points=self._cut_points(look["cut_points"], f"{prefix}cut_points", inputs),
            rules=tuple(
                self._rule(rule, f"{prefix}rules[{index}]", inputs)
                for index, rule in enumerate(self._list(look["rules"], f"{prefix}rules"))
            ),
            default=self._hint(look["default"], f"{prefix}default"),
            ratios=ratios,
        )

    def _second(self, value: object, counters: tuple[str, ...]) -> SecondLook | None:
        if value is None:
            return None
        look = self._object(value, "second", _SECOND_FIELDS)
        values = looked_at(counters)
        if len(set(values)) != len(values):
            self.wrong("counters", f"none may begin with {START!r} where there is a second look")
        return SecondLook(
            self._hint(look["sampled_in"], "second.sampled_in"),
            tuple(
                self._hint(hint, f"second.after[{index}]")
                for index, hint in enumerate(self._list(look["after"], "second.after"))
            ),
            self._rules(look, "second.", values),
        )

    def _other_counts(self, value: object) -> OtherCounts | None:
        if value is None:
            return None
        other = self._object(value, "other_counts", ("cores", "instead"))
        listed = self._list(other["instead"], "other_counts.instead")
        return OtherCounts(
            self._cores(other["cores"], "other_counts.cores"),
            tuple(
                self._instead(entry, f"other_counts.instead[{index}]")
                for index, entry in enumerate(listed)
            ),
        )

    def _cores(self, value: object, field: str) -> Affinity:
        text = self._text(value, field)
        try:
            cores = Affinity.parse(text)
        except ValueError as error:
            self.wrong(field, str(error))
        if str(cores) != text or any(count < 1 for socket in cores.occupancy for count in socket):
            self.wrong(field, f"got {_show(text)}, expected counts above 0, the largest first")
        return cores

    def _instead(self, value: object, field: str) -> Instead:
        entry = self._object(value, field, ("hint", "threads", "better"))
        listed = self._list(entry["threads"], f"{field}.threads")
        threads = [count for count in listed if type(count) is int]
        if not (len(listed) == len(threads) == 2 and 1 <= threads[0] <= threads[1] <= MOST_THREADS):
            self.wrong(
                f"{field}.threads",
                f"got {_show(listed)}, expected the least and the most, whole numbers from 1 to "
                f"{MOST_THREADS}",
            )
        return Instead(
            self._hint(entry["hint"], f"{field}.hint"),
            threads[0],
            threads[1],
            self._hint(entry["better"], f"{field}.better"),
        )

    def _constant(self, text: str) -> Never:
        self.wrong("content", f"{text} is not allowed; open ends are null")

    def _unique(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            self.wrong(twice, "named twice in one object")
        return found

    def _object(
        self, value: object, field: str, allowed: tuple[str, ...] | None
    ) -> dict[str, object]:
        """An object; with `allowed`, exactly these fields."""
        if not isinstance(value, dict):
            self.wrong(field, f"got {_show(value)}, expected an object")
        if allowed is not None:
            for name in allowed:
                if name not in value:
                    self.wrong(field, f"lacks {name!r}")
            for name in value:
                if name not in allowed:
                    self.wrong(field, f"unknown field {_show(name)}")
        return value

    def _list(self, value: object, field: str) -> list[object]:
        if not isinstance(value, list):
            self.wrong(field, f"got {_show(value)}, expected a list")
        return value

    def _text(self, value: object, field: str) -> str:
        if not isinstance(value, str) or not value:
            self.wrong(field, f"got {_show(value)}, expected a text that is not empty")
        return value

    def _number(self, value: object, field: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.wrong(field, f"got {_show(value)}, expected a number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.wrong(field, f"got {_show(value)}, expected a finite number")
        return number

    def _hint(self, value: object, field: str) -> Hint:
        try:
            return Hint.parse(self._text(value, field))
        except ValueError as error:
            self.wrong(field, str(error))

    def _counters(self, value: object) -> tuple[str, ...]:
        listed = self._list(value, "counters")
        counters = tuple(self._text(c, f"counters[{i}]") for i, c in enumerate(listed))
        if len(set(counters)) != len(counters):
            self.wrong("counters", "a counter is named twice")
        return counters

    def _ratios(self, value: object, where: str, counters: tuple[str, ...]) -> tuple[Ratio, ...]:
        ratios: list[Ratio] = []
        for index, listed in enumerate(self._list(value, where)):
            field = f"{where}[{index}]"
            ratio = self._object(listed, field, ("name", "numerator", "denominator", "scale"))
            name = self._text(ratio["name"], f"{field}.name")
            if name in counters or name in (known.name for known in ratios):
                self.wrong(f"{field}.name", f"{name!r} is the name of another counter or ratio")
            above, below = (
                self._sum(ratio[part], f"{field}.{part}", counters)
                for part in ("numerator", "denominator")
            )
            scale = self._number(ratio["scale"], f"{field}.scale")
            if not scale > 0:
                self.wrong(f"{field}.scale", f"got {scale:g}, expected a number above 0")
            ratios.append(Ratio(name, above, below, scale))
        return tuple(ratios)

    def _sum(self, value: object, field: str, counters: tuple[str, ...]) -> tuple[str, ...]:
        """Counters that are added: at least one."""
        listed = self._list(value, field)
        if not listed:
            self.wrong(field, "names no counter, expected at least one")
        names = tuple(self._text(name, field) for name in listed)
        for name in names:
            self._known(name, field, counters)
        return names

    def _cut_points(
        self, value: object, where: str, inputs: tuple[str, ...]
    ) -> dict[str, tuple[float, ...]]:
        found = {}
        for name, cuts in self._object(value, where, None).items():
            field = f"{where}.{name}"
            self._known(name, field, inputs)
            numbers = [self._number(cut, field) for cut in self._list(cuts, field)]
            if any(not a < b for a, b in itertools.pairwise(numbers)):
                self.wrong(field, "the cut points do not ascend")
            found[name] = tuple(numbers)
        return found

    def _rule(self, value: object, field: str, inputs: tuple[str, ...]) -> Rule:
        rule = self._object(value, field, ("hint", "when", "covered", "wrong"))
        conditions = self._list(rule["when"], f"{field}.when")
        weights = [self._number(rule[name], f"{field}.{name}") for name in ("covered", "wrong")]
        if not 0 <= weights[1] <= weights[0]:
            self.wrong(field, f"{weights[1]:g} wrong of {weights[0]:g} covered cannot be")
        return Rule(
            tuple(
                self._condition(condition, f"{field}.when[{index}]", inputs)
                for index, condition in enumerate(conditions)
            ),
            self._hint(rule["hint"], f"{field}.hint"),
            *weights,
        )

    def _condition(self, value: object, field: str, inputs: tuple[str, ...]) -> Condition:
        condition = self._object(value, field, ("counter", "above", "upto"))
        counter = self._text(condition["counter"], f"{field}.counter")
        self._known(counter, f"{field}.counter", inputs)
        above, upto = condition["above"], condition["upto"]
        lower = -math.inf if above is None else self._number(above, f"{field}.above")
        upper = math.inf if upto is None else self._number(upto, f"{field}.upto")
        if not lower < upper:
            self.wrong(field, f"above {lower:g} and up to {upper:g} can never hold")
        return Condition(counter, lower, upper)

    def _known(self, counter: str, field: str, counters: tuple[str, ...]) -> None:
        if counter not in counters:
            self.wrong(field, f"{counter!r} is not among the counters {', '.join(counters)}")


def _show(value: object) -> str:
    """A value in a message: short, whatever the file holds."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
