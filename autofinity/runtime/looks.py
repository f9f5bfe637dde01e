"""Looks at a running program: the work of its computing threads in each, and the noise of several.

A sample consists of as many looks as the answer needs. Each look is kept as rates and its length,
not as counts of each thread: with many looks and threads these counts would fill the monitor's
memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autofinity.model.counters import Behaviour, CounterSample
from autofinity.ports import Interval
from autofinity.profiling.sampling import behaviour_of
from autofinity.runtime.workers import Workers

_AT_WORK = 0.1  # of what the busiest thread used; a consumer of quick items has a sixth, steadily
_STUDENT = (math.inf, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
"""Student's t, two-sided 5 %, by degrees of freedom."""
_MANY = 2.1  # beyond the table


@dataclass(frozen=True, slots=True)
class Look:
    """One interval of a program, without its threads."""

    behaviour: Behaviour
    """Counts per second and core, for the number of cores that threads share."""
    elapsed_ns: int
    all_at_work: bool = True
    """Whether as many threads were at work as can run at a time. A thread is at work that ran, or
    waited for a CPU, for a tenth of the busiest thread's time or more."""


def look_of(interval: Interval, workers: Workers, cores: int) -> Look:
    """Look at the computing threads in an interval, with rates for so many cores.

    Looks that are compared need one number of cores: the room of threads that take turns changes
    when enough ends of looks have been seen, and by that alone a program would look faster.

    A thread on a crowded machine that could run and had to wait for a CPU is at work.
    """
    tids = workers.tids
    samples = tuple(sample for sample in interval.samples if sample.tid in tids)
    narrowed = Interval(interval.start_ns, interval.end_ns, samples)
    used = [_at_work_ns(sample) for sample in samples]
    busiest = max(used, default=0)
    return Look(
        behaviour_of(narrowed, cores),
        interval.end_ns - interval.start_ns,
        sum(each > 0 and each >= _AT_WORK * busiest for each in used) >= workers.at_a_time,
    )


def _at_work_ns(sample: CounterSample) -> float:
    """Time that a thread ran or could have run.

    A kernel reports the time that a thread waited for a CPU only when the thread gets one, so looks
    are longer than such a wait.
    """
    return sample.counted("task_clock_ns") + sample.counted("run_delay_ns")


def length_ns(looks: Iterable[Look]) -> int:
    """Total length of the looks."""
    return sum(look.elapsed_ns for look in looks)


def mean_of(looks: Sequence[Look]) -> Behaviour:
    """Rates over all looks, weighted by their length.

    A counter that was not measured in some looks has the mean of the other looks.
    """
    names = dict.fromkeys(name for look in looks for name in look.behaviour.values)
    return Behaviour({name: _mean(name, looks) for name in names})


def _mean(name: str, looks: Sequence[Look]) -> float:
    seen = [(look.behaviour[name], look.elapsed_ns) for look in looks]
    seen = [(rate, ns) for rate, ns in seen if not math.isnan(rate)]
    total_ns = sum(ns for _, ns in seen)
    return math.fsum(rate * ns for rate, ns in seen) / total_ns if total_ns else math.nan


def scatter(samples: Sequence[Mapping[str, float]], names: Iterable[str]) -> float:
    """Relative noise of the mean of several samples: half a 95 % interval.

    The value of `names` with the largest noise counts. Infinite with one sample; 0 where no name
    was measured.
    """
    return max((_scatter([sample[name] for sample in samples]) for name in names), default=0.0)


def _scatter(values: Sequence[float]) -> float:
    seen = [value for value in values if math.isfinite(value)]
    if not seen:
        return 0.0  # no value that a decision depends on
    middle, count = math.fsum(seen) / len(seen), len(seen)
    if count < 2:
        return math.inf
    squares = math.fsum((value - middle) ** 2 for value in seen) / (count - 1)
    if squares == 0:
        return 0.0
    factor = _STUDENT[count - 1] if count <= len(_STUDENT) else _MANY
    return factor * math.sqrt(squares / count) / abs(middle) if middle else math.inf
