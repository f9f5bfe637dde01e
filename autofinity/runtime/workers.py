"""Which threads compute: a pure tally of CPU time, interval by interval.

CPU time is what a thread had and, on a crowded machine, what it had to wait for. A thread that uses
a fair share of what the busiest thread uses is a worker; it stays one while it waits for the others
now and then, and is none any more after some idle seconds. The rest (a main thread that only joins,
timers, I/O, a compiler that is done) serves, and is not placed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autofinity.model.counters import CounterSample
from autofinity.ports import Interval

_FAIR_SHARE = 0.1  # of the busiest thread's CPU time in the same interval
_LEAST_NS = 20_000_000  # of CPU time; two of the kernel's usual clock ticks
_LEAST_RATE = 0.1  # of the interval: the busiest thread itself must compute, not merely blink
_MOST_WAITING = 9  # times its CPU time that a thread's waiting for a CPU counts
_IDLE_NS = 3_000_000_000  # in a row, while others compute


@dataclass(frozen=True, slots=True)
class Workers:
    """Threads that are alive and those of them that compute, by number of creation."""

    alive: tuple[tuple[int, int], ...] = ()
    """(number, tid), ascending."""
    computing: tuple[int, ...] = ()
    """Numbers of those that compute, ascending."""
    idle: Mapping[int, int] = field(default_factory=dict)
    """Nanoseconds in a row in which a worker did less than its share while others computed."""

    def after(self, interval: Interval) -> Workers:
        """With what the interval showed: begun and ended threads, and who used the CPUs."""
        alive = dict(self.alive)
        idle = {number: self.idle.get(number, 0) for number in self.computing}
        for event in interval.thread_events:
            # Numbers are used again after an end; so every event first ends the former bearer.
            idle.pop(event.thread, None)
            if event.kind == "begin":
                alive[event.thread] = event.tid
            else:
                alive.pop(event.thread, None)
        used = {sample.tid: _wanted_ns(sample) for sample in interval.samples}
        busiest = max(used.values(), default=0)
        elapsed = interval.end_ns - interval.start_ns
        if busiest >= max(_LEAST_NS, _LEAST_RATE * elapsed):
            fair = max(_LEAST_NS, _FAIR_SHARE * busiest)
            for number, tid in alive.items():
                if used.get(tid, 0) >= fair:
                    idle[number] = 0
                elif number in idle:
                    idle[number] += elapsed
        computing = tuple(sorted(number for number, idled in idle.items() if idled < _IDLE_NS))
        return Workers(tuple(sorted(alive.items())), computing, idle)

    @property
    def tids(self) -> frozenset[int]:
        """Kernel ids of the computing threads."""
        computing = set(self.computing)
        return frozenset(tid for number, tid in self.alive if number in computing)


def _wanted_ns(sample: CounterSample) -> int:
    """CPU time a thread had or waited for, in nanoseconds. Who hardly runs waits for each wake-up,
    too: its waiting does not make it a worker.
    """
    had = sample.counts.get("task_clock_ns", 0)
    return had + min(sample.counts.get("run_delay_ns", 0), _MOST_WAITING * had)
