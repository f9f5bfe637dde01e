"""Policies read from JSON and checked, as `policy.files` describes.

The checks are written by hand: the run-time monitor would have to load a validator.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import PolicyError
from autofinity.model.facts import FACTS
from autofinity.model.policy import (
    POLICY_VERSION,
    Condition,
    Instead,
    OtherCounts,
    Rule,
    RulePolicy,
    SecondLook,
    Trial,
    looked_at,
)
from autofinity.model.ratios import SPEEDUP, START, Ratio
from autofinity.policy.fields import FieldReader, shown

FORMAT = "autofinity-policy"
LARGEST_FILE_BYTES = 16 * 1024 * 1024
MOST_THREADS = 1 << 20
_FIELDS = ("format", "version", "counters", "cut_points", "rules", "default", "provenance")
_SINCE = {"ratios": 2, "second": 3, "other_counts": 4, "trial": 6}
_FIELDS_OF = {
    version: (*_FIELDS, *(field for field, since in _SINCE.items() if since <= version))
    for version in range(1, POLICY_VERSION + 1)
}
_FACTS_SINCE = 5
_NO_BOUNDS_SINCE = 7
"""Version 6 had bounds of the speed at which a trial took place; they are read, and not used."""
_RATIO_FIELDS = ("name", "numerator", "denominator", "scale")
_SECOND_FIELDS = ("sampled_in", "after", "ratios", "cut_points", "rules", "default")


class PolicyReader(FieldReader):
    """Checks and builds a policy."""

    def policy(self, data: bytes) -> RulePolicy:
        """The policy in the bytes of a file. Raises `PolicyError`."""
        if len(data) > LARGEST_FILE_BYTES:
            self.wrong("size", f"more than {LARGEST_FILE_BYTES >> 20} MiB, which is no policy")
        document = self.document(data)
        top = self.an_object(document, "the whole", None)
        if top.get("format") != FORMAT:
            self.wrong("format", f"got {shown(top.get('format'))}, expected {FORMAT!r}")
        version = top.get("version")
        if type(version) is int and version > POLICY_VERSION:
            raise PolicyError(
                f"{self.name}: version {version} is newer than {POLICY_VERSION}, the newest this "
                "autofinity knows; update autofinity"
            )
        if type(version) is not int or version < 1:
            self.wrong("version", f"got {shown(version)}, expected {POLICY_VERSION}")
        self.an_object(document, "the whole", _FIELDS_OF[version])
        counters = self._counters(top["counters"])
        self._may_have_facts = version >= _FACTS_SINCE
        return replace(
            self._rules(top, "", counters),
            provenance=self.an_object(top["provenance"], "provenance", None),
            second=(second := self._second(top.get("second"), counters)),
            trial=(trial := self._trial(top.get("trial"), version, counters, second)),
            version=version if trial is None else max(version, _NO_BOUNDS_SINCE),
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
                for index, rule in enumerate(self.a_list(look["rules"], f"{prefix}rules"))
            ),
            default=self._hint(look["default"], f"{prefix}default"),
            ratios=ratios,
        )

    def _second(self, value: object, counters: tuple[str, ...]) -> SecondLook | None:
        if value is None:
            return None
        look = self.an_object(value, "second", _SECOND_FIELDS)
        values = looked_at(counters)
        if len(set(values)) != len(values):
            self.wrong("counters", f"none may begin with {START!r} where there is a second look")
        return SecondLook(
            self._hint(look["sampled_in"], "second.sampled_in"),
            tuple(
                self._hint(hint, f"second.after[{index}]")
                for index, hint in enumerate(self.a_list(look["after"], "second.after"))
            ),
            self._rules(look, "second.", values),
        )

    def _trial(
        self, value: object, version: int, counters: tuple[str, ...], second: SecondLook | None
    ) -> Trial | None:
        if value is None:
            return None
        bounds = ("above", "upto") if version < _NO_BOUNDS_SINCE else ()
        trial = self.an_object(value, "trial", ("hint", *bounds, "faster"))
        if second is None or not {*SPEEDUP.numerator} <= {*counters}:
            self.wrong("trial", "expected none without a second look and the counter instructions")
        unused = tuple(self.a_number(trial[name], f"trial.{name}") for name in bounds)
        faster = self.a_number(trial["faster"], "trial.faster")
        if not faster > 0:
            self.wrong("trial.faster", f"got {faster}, expected a number above 0")
        hint = self._hint(trial["hint"], "trial.hint")
        return Trial(hint, faster, (unused[0], unused[1]) if unused else None)

    def _other_counts(self, value: object) -> OtherCounts | None:
        if value is None:
            return None
        other = self.an_object(value, "other_counts", ("cores", "instead"))
        listed = self.a_list(other["instead"], "other_counts.instead")
        return OtherCounts(
            self._cores(other["cores"], "other_counts.cores"),
            tuple(
                self._instead(entry, f"other_counts.instead[{index}]")
                for index, entry in enumerate(listed)
            ),
        )

    def _cores(self, value: object, field: str) -> Affinity:
        text = self.a_text(value, field)
        try:
            cores = Affinity.parse(text)
        except ValueError as error:
            self.wrong(field, str(error))
        if str(cores) != text or any(count < 1 for socket in cores.occupancy for count in socket):
            self.wrong(field, f"got {shown(text)}, expected counts above 0, the largest first")
        return cores

    def _instead(self, value: object, field: str) -> Instead:
        entry = self.an_object(value, field, ("hint", "threads", "better"))
        listed = self.a_list(entry["threads"], f"{field}.threads")
        threads = [count for count in listed if type(count) is int]
        if not (len(listed) == len(threads) == 2 and 1 <= threads[0] <= threads[1] <= MOST_THREADS):
            self.wrong(
                f"{field}.threads",
                f"got {shown(listed)}, expected the least and the most, whole numbers from 1 to "
                f"{MOST_THREADS}",
            )
        return Instead(
            self._hint(entry["hint"], f"{field}.hint"),
            threads[0],
            threads[1],
            self._hint(entry["better"], f"{field}.better"),
        )

    def _hint(self, value: object, field: str) -> Hint:
        try:
            return Hint.from_letters(self.a_text(value, field))
        except ValueError as error:
            self.wrong(field, str(error))

    def _counters(self, value: object) -> tuple[str, ...]:
        listed = self.a_list(value, "counters")
        counters = tuple(self.a_text(c, f"counters[{i}]") for i, c in enumerate(listed))
        if len(set(counters)) != len(counters):
            self.wrong("counters", "a counter is named twice")
        return counters

    def _ratios(self, value: object, where: str, counters: tuple[str, ...]) -> tuple[Ratio, ...]:
        ratios: list[Ratio] = []
        for index, listed in enumerate(self.a_list(value, where)):
            field = f"{where}[{index}]"
            named = self._may_have_facts and isinstance(listed, dict) and "fact" in listed
            ratio = self.an_object(listed, field, (*_RATIO_FIELDS, *(("fact",) if named else ())))
            name = self.a_text(ratio["name"], f"{field}.name")
            if name in counters or name in (known.name for known in ratios):
                self.wrong(f"{field}.name", f"{name!r} is the name of another counter or ratio")
            above, below = (
                self._sum(ratio[part], f"{field}.{part}", counters)
                for part in ("numerator", "denominator")
            )
            scale = self.a_number(ratio["scale"], f"{field}.scale")
            if not scale > 0:
                self.wrong(f"{field}.scale", f"got {scale:g}, expected a number above 0")
            fact = self.a_text(ratio["fact"], f"{field}.fact") if named else ""
            if named and fact not in FACTS:
                known = ", ".join(FACTS)
                self.wrong(f"{field}.fact", f"got {shown(fact)}, expected one of {known}")
            ratios.append(Ratio(name, above, below, scale, fact))
        return tuple(ratios)

    def _sum(self, value: object, field: str, counters: tuple[str, ...]) -> tuple[str, ...]:
        """Names of the counters that are added: at least one."""
        listed = self.a_list(value, field)
        if not listed:
            self.wrong(field, "names no counter, expected at least one")
        names = tuple(self.a_text(name, field) for name in listed)
        for name in names:
            self._known(name, field, counters)
        return names

    def _cut_points(
        self, value: object, where: str, inputs: tuple[str, ...]
    ) -> dict[str, tuple[float, ...]]:
        found = {}
        for name, cuts in self.an_object(value, where, None).items():
            field = f"{where}.{name}"
            self._known(name, field, inputs)
            numbers = [self.a_number(cut, field) for cut in self.a_list(cuts, field)]
            if any(not a < b for a, b in itertools.pairwise(numbers)):
                self.wrong(field, "the cut points do not ascend")
            found[name] = tuple(numbers)
        return found

    def _rule(self, value: object, field: str, inputs: tuple[str, ...]) -> Rule:
        rule = self.an_object(value, field, ("hint", "when", "covered", "wrong"))
        conditions = self.a_list(rule["when"], f"{field}.when")
        weights = [self.a_number(rule[name], f"{field}.{name}") for name in ("covered", "wrong")]
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
        condition = self.an_object(value, field, ("counter", "above", "upto"))
        counter = self.a_text(condition["counter"], f"{field}.counter")
        self._known(counter, f"{field}.counter", inputs)
        above, upto = condition["above"], condition["upto"]
        lower = -math.inf if above is None else self.a_number(above, f"{field}.above")
        upper = math.inf if upto is None else self.a_number(upto, f"{field}.upto")
        if not lower < upper:
            self.wrong(field, f"above {lower:g} and up to {upper:g} can never hold")
        return Condition(counter, lower, upper)

    def _known(self, counter: str, field: str, counters: tuple[str, ...]) -> None:
        if counter not in counters:
            known = ", ".join(counters) or "of the policy, which has none"
            self.wrong(field, f"{shown(counter)} is not among the counters {known}")
