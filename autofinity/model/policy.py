"""A learned policy as data: ordered readable rules over a few counters, and a default."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from autofinity.model.affinity import Affinity, Hint
from autofinity.model.ratios import SPEEDUP, START, Ratio

POLICY_VERSION = 7
"""Features by version. 1: conditions on counters. 2: on ratios of counters, too. 3: a second look.
4: other hints with other thread counts. 5: ratios over facts of the machine. 6: a trial. 7: the
trial has no bounds."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`lower < value <= upper`. An infinite bound is an open end; for NaN the condition is false.

    Bins are (lower, upper] and ±∞ falls into the outer bins, so a bound of ±∞ includes ±∞ itself.
    """

    counter: str
    """A counter (per thread and second), or a ratio of the policy."""
    lower: float
    upper: float

    def holds(self, value: float) -> bool:
        """Whether `value` lies in (lower, upper]."""
        if value != value:
            return False
        above = value > self.lower or self.lower == float("-inf")
        return above and value <= self.upper


@dataclass(frozen=True, slots=True)
class Rule:
    """All conditions hold → hint. `covered` and `wrong` are weights on the training table."""

    conditions: tuple[Condition, ...]
    hint: Hint
    covered: float = 0.0
    wrong: float = 0.0


@dataclass(frozen=True, slots=True)
class RulePolicy:
    """The first rule whose conditions hold decides, else `default`."""

    counters: tuple[str, ...]
    """Counters to measure, in the order of the sample vector in the exported header."""
    cut_points: Mapping[str, tuple[float, ...]]
    """Inner bin edges of the inputs of the rules, ascending; bin i is (edge[i-1], edge[i]]."""
    rules: tuple[Rule, ...]
    default: Hint
    provenance: Mapping[str, object] = field(default_factory=dict)
    """Origin of the policy: machine, suite, digest of the observations, settings, version."""
    version: int = POLICY_VERSION
    ratios: tuple[Ratio, ...] = ()
    """Ratios computed from the counters of a sample; conditions name them as they name counters."""
    second: SecondLook | None = None
    """Second look, taken after some answers with a sample in another placement; None: every answer
    is final."""
    trial: Trial | None = None
    """Trial of one more hint after a second look; None: the answer of the second look is final."""
    other_counts: OtherCounts | None = None
    """Meaning of the final answer with other thread counts; None: the same with any count."""

    @property
    def inputs(self) -> tuple[str, ...]:
        """All names that conditions may use: the counters, then the ratios."""
        return (*self.counters, *(ratio.name for ratio in self.ratios))

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts of the machine (`model.facts.FACTS`) that ratios of either look are divided by.

        `policy.on_machine` puts in the values of a machine; until then such a ratio has no value.
        """
        again = () if self.second is None else self.second.policy.ratios
        named = (ratio.fact for ratio in (*self.ratios, *again) if ratio.fact)
        return tuple(dict.fromkeys(named))

    def second_after(self, hint: Hint) -> SecondLook | None:
        """The second look that is taken after this answer of the first rules; None: the answer is
        final.
        """
        return self.second if self.second is not None and hint in self.second.after else None

    @property
    def last_words(self) -> tuple[Hint, ...]:
        """The hints that may be the final answer, each once."""
        looks = [self] if self.second is None else [self, self.second.policy]
        said = [hint for look in looks for hint in (*(r.hint for r in look.rules), look.default)]
        tried = () if self.trial is None else (self.trial.hint,)
        return tuple(dict.fromkeys((*said, *tried)))

    def at(self, hint: Hint, threads: int, cores: Affinity) -> Hint:
        """Meaning of the final answer `hint` for `threads` threads on a machine with `cores`."""
        if self.other_counts is None or self.other_counts.cores != cores:
            return hint
        return self.other_counts.hint(hint, threads)


@dataclass(frozen=True, slots=True)
class SecondLook:
    """A second question, about effects that the first sample cannot show.

    For example the effect of a shared cache, when no thread shares one. The rules are asked again
    with a sample of the same counters in the affinity of another hint.
    """

    sampled_in: Hint
    after: tuple[Hint, ...]
    """Answers of the first rules after which the second look is taken; any other answer is
    final."""
    policy: RulePolicy
    """Rules of the second look. Their counters are `looked_at` of the first policy's; they have no
    second look of their own."""

    @staticmethod
    def values[Value](start: Mapping[str, Value], probe: Mapping[str, Value]) -> dict[str, Value]:
        """Input of `policy`: the first sample, and the sample in the second affinity; a value, or a
        column of values, by counter.
        """
        return {**probe, **{START + counter: value for counter, value in start.items()}}


@dataclass(frozen=True, slots=True)
class Trial:
    """One more hint, tried after both looks: a placement between spread and packed may be better
    than either.

    The threads stay there if they are faster than in the affinity of the answer. Where the hint
    means that affinity, there is nothing to try.
    """

    hint: Hint
    faster: float
    """Speed above which the threads stay, relative to the affinity of the answer."""
    unused_bounds: tuple[float, float] | None = field(default=None, compare=False)
    """Bounds of the speed at which a trial took place, in a file of version 6; for readers only."""

    @staticmethod
    def follows(start: Mapping[str, float], probe: Mapping[str, float]) -> bool:
        """Whether the speed is known in both looks; without speeds there is nothing to compare."""
        return not math.isnan(SPEEDUP.of(SecondLook.values(start, probe)))

    def against(self, answer: Hint) -> SecondLook:
        """The question of the trial, as a second look: the first sample is that in the affinity of
        `answer`.
        """
        faster = Condition(SPEEDUP.name, self.faster, math.inf)
        counters = looked_at(SPEEDUP.numerator)
        cuts = {SPEEDUP.name: (self.faster,)}
        rules = (Rule((faster,), self.hint),)
        policy = RulePolicy(counters, cuts, rules, answer, ratios=(SPEEDUP,))
        return SecondLook(self.hint, (answer,), policy)


@dataclass(frozen=True, slots=True)
class Instead:
    """For `least` to `most` threads, `better` replaces `hint`."""

    hint: Hint
    least: int
    most: int
    better: Hint


@dataclass(frozen=True, slots=True)
class OtherCounts:
    """Hints that other thread counts need. Valid for one shape of machine only.

    With another thread count a hint is another affinity. Another hint may then serve better those
    programs for which the first hint was the answer.
    """

    cores: Affinity
    """The machine's cores by LLC domain and socket."""
    instead: tuple[Instead, ...]

    def hint(self, hint: Hint, threads: int) -> Hint:
        """Meaning of the answer `hint` for `threads` threads."""
        for entry in self.instead:
            if entry.hint == hint and entry.least <= threads <= entry.most:
                return entry.better
        return hint


def looked_at(counters: tuple[str, ...]) -> tuple[str, ...]:
    """Inputs of a second look: each counter in its own sample, then in the first sample."""
    return (*counters, *(START + counter for counter in counters))


@dataclass(frozen=True, slots=True)
class Decision:
    """Answer of a policy for one sample, and the distance to another answer."""

    hint: Hint
    rule: int | None
    """Index of the rule that fired; None for the default."""
    margin: float
    """Smallest change of one measured value alone, relative to the value, that would change the
    hint, 0…; infinite when no value alone can. Any smaller change of any one value keeps the
    hint."""
    runner_up: Hint | None
    """The hint that the nearest change of the sample (of several values if need be) would give;
    None when there is none."""
