"""A policy asked with many samples at once: columns of numpy in place of values.

Row by row, the answers are those of `selector` and `answers` for one sample, to the bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from autofinity.model.affinity import HINTS, SPREAD
from autofinity.model.policy import Condition, RulePolicy, SecondLook
from autofinity.model.ratios import SPEEDUP, Ratio
from autofinity.policy.answers import Meaning, Place, itself

type Floats = npt.NDArray[np.float64]
type Ints = npt.NDArray[np.int64]
type Mask = npt.NDArray[np.bool_]
type Columns = Mapping[str, Floats]
"""Name of a counter (or of another input of rules) → a value for each row."""
type Looks = list[tuple[object, Columns | None]]
"""Places of the looks, in order, with their samples."""

(_SPEED,) = SPEEDUP.numerator


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples of the looks, n rows each; None: not taken. A counter that was not measured is NaN or
    left out.
    """

    rows: int
    first: Columns
    second: Columns | None = None
    trial: Columns | None = None


def last_answers(
    policy: RulePolicy, samples: Samples, meant: Meaning = itself, place: Place = itself
) -> Ints:
    """The last answer of each row that its samples allow (indices into `HINTS`), as `answers.steps`
    finds it with `answers.Given`.
    """
    rows, start, second, trial = samples.rows, samples.first, policy.second, policy.trial
    answers = hints(policy, values_of(policy, start, rows), rows)
    if second is None:
        return answers
    looks = [(place(SPREAD), start), (place(second.sampled_in), samples.second)]
    probe = _taken_in(looks, place(second.sampled_in))
    if probe is None:
        return answers
    asked = np.array([hint in second.after for hint in HINTS])[answers]
    both = SecondLook.values(start, probe)
    again = hints(second.policy, values_of(second.policy, both, rows), rows)
    answers = np.where(asked, again, answers)
    if trial is None:
        return answers
    on_trial = place(meant(trial.hint))
    looks.append((on_trial, samples.trial))
    tried = _taken_in(looks, on_trial)
    if tried is None:
        return answers
    asked &= ~np.isnan(ratio_of(SPEEDUP, both, rows))
    reference = column_of(start, _SPEED, rows)
    for answer in np.flatnonzero(np.bincount(answers, minlength=len(HINTS))).tolist():
        speed = _speed_in(looks, place(meant(HINTS[answer])), rows)
        reference = np.where(answers == answer, speed, reference)
    ((faster,),) = (rule.conditions for rule in trial.against(SPREAD).policy.rules)
    pair = SecondLook.values({_SPEED: reference}, {_SPEED: column_of(tried, _SPEED, rows)})
    asked &= mask_of(faster, ratio_of(SPEEDUP, pair, rows))
    np.copyto(answers, HINTS.index(trial.hint), where=asked)
    return answers


def hints(policy: RulePolicy, values: Columns, rows: int) -> Ints:
    """The answer of one look for each row (index into `HINTS`): of the first rule whose conditions
    hold, else the default.

    `values` has every input that conditions name.
    """
    said = np.full(rows, HINTS.index(policy.default))
    for rule in reversed(policy.rules):
        holds = np.ones(rows, bool)
        for condition in rule.conditions:
            holds &= mask_of(condition, values[condition.counter])
        np.copyto(said, HINTS.index(rule.hint), where=holds)
    return said


def mask_of(condition: Condition, values: Floats) -> Mask:
    """Rows where the condition holds (`Condition.holds`): false for NaN."""
    inside: Mask = values <= condition.upper
    return inside if condition.lower == -np.inf else inside & (values > condition.lower)


def values_of(policy: RulePolicy, samples: Columns, rows: int) -> dict[str, Floats]:
    """Values of the policy's inputs (`selector.values_of`): its counters, NaN where there is no
    such column, and its ratios.
    """
    values = {counter: column_of(samples, counter, rows) for counter in policy.counters}
    return {**values, **{ratio.name: ratio_of(ratio, values, rows) for ratio in policy.ratios}}


def ratio_of(ratio: Ratio, samples: Columns, rows: int) -> Floats:
    """Values of a ratio (`Ratio.of`), with the operations in the same order."""
    values = np.full(rows, np.nan)
    if ratio.fact:
        return values
    over = _sum(samples, ratio.denominator, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        above = ratio.scale * _sum(samples, ratio.numerator, rows)
        np.divide(above, over, out=values, where=over > 0)
    return values


def column_of(samples: Columns, name: str, rows: int) -> Floats:
    """The column of this name; NaN throughout where there is none."""
    return samples[name] if name in samples else np.full(rows, np.nan)


def _sum(samples: Columns, names: tuple[str, ...], rows: int) -> Floats:
    total = column_of(samples, names[0], rows)
    with np.errstate(over="ignore", invalid="ignore"):
        for name in names[1:]:
            total = total + column_of(samples, name, rows)
    return total


def _taken_in(looks: Looks, there: object) -> Columns | None:
    """The samples that were taken in a place, as `answers.Given` finds them."""
    return next((columns for place, columns in looks if place == there), None)


def _speed_in(looks: Looks, there: object, rows: int) -> Floats:
    """Speed in a place; where no sample was taken, that of the faster of the two looks."""
    taken = _taken_in(looks, there)
    if taken is not None:
        return column_of(taken, _SPEED, rows)
    first, second = (column_of(columns or {}, _SPEED, rows) for _, columns in looks[:2])
    return np.where(second < first, first, second)
