"""An interval of a run, shown as if the run had been longer: times and counts alike, so that rates
and ratios are those measured.
"""

from __future__ import annotations

from dataclasses import replace

from autofinity.mechanisms.recipe import NS_PER_S
from autofinity.model.counters import CounterSample
from autofinity.ports import Interval, ThreadEvent


def stretched(interval: Interval, long: float, clock_hz: float) -> Interval:
    """`long` times as long. Threads were on a CPU for as many `cycles` as they counted, at
    `clock_hz`.
    """

    def sample(of: CounterSample) -> CounterSample:
        busy_ns = of.counts["cycles"] * NS_PER_S / clock_hz
        counts = {name: round(count * long) for name, count in of.counts.items()}
        return CounterSample(
            of.tid,
            round(of.start_ns * long),
            round(of.end_ns * long),
            {**counts, "task_clock_ns": round(busy_ns * long)},
            round(of.enabled_ns * long),
            round(of.running_ns * long),
        )

    return replace(
        interval,
        start_ns=round(interval.start_ns * long),
        end_ns=round(interval.end_ns * long),
        resident_bytes=interval.resident_bytes * long,
        samples=tuple(map(sample, interval.samples)),
        thread_events=tuple(
            ThreadEvent(e.kind, e.thread, e.tid, round(e.at_ns * long))
            for e in interval.thread_events
        ),
    )
