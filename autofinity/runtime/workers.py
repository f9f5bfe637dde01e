"""Which threads compute, and how many of them at a time need room: a pure tally of CPU time,
interval by interval.

CPU time includes, on a crowded machine, the time that a thread had to wait for a CPU. A thread that
uses a fair share of the busiest thread's time is a worker. A worker may wait for the others now and
then; after some idle seconds it is no longer a worker. The other threads (a main thread that only
joins, timers, I/O, a compiler that is done) are not placed.

Workers of a pipeline or a pool take turns: fewer workers want to run at a time than exist
(`demand`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autofinity.affinity.room import room_for
from autofinity.model.counters import CounterSample
from autofinity.ports import Interval
from autofinity.runtime.demand import Demand

_FAIR_SHARE = 0.1  # of the busiest thread's CPU time in the same interval
_LEAST_NS = 20_000_000  # of CPU time; two of the kernel's usual clock ticks
_LEAST_RATE = 0.1  # of the interval: the busiest thread itself must compute, not merely blink
_MOST_WAITING = 9  # times its CPU time that a thread's waiting for a CPU counts
_IDLE_NS = 3_000_000_000  # in a row, while others compute
_NEARLY_ALL = 0.75
"""Share of the workers that take turns which need a core, from which on each has one. Workers that
share fewer cores meet on one of them now and then, while others are idle."""


@dataclass(frozen=True, slots=True)
class Workers:
    """Live threads and those of them that compute, by number of creation."""

    alive: tuple[tuple[int, int], ...] = ()
    """(number, tid), ascending."""
    computing: tuple[int, ...] = ()
    """Numbers of the computing threads, ascending."""
    idle: Mapping[int, int] = field(default_factory=dict)
    """Nanoseconds in a row in which a worker did less than its share while others computed."""
    demand: Demand = field(default_factory=Demand)
    """Number of computing threads that recently wanted to run at a time."""
    active: bool = False
    """Whether any thread computed in the last look."""

    def after(self, interval: Interval) -> Workers:
        """The tally with one more interval: begun and ended threads, and the use of CPUs."""
        alive = dict(self.alive)
        idle = {number: self.idle.get(number, 0) for number in self.computing}
        for event in interval.thread_events:
            # Numbers are used again after an end, so every event first ends the former thread.
            idle.pop(event.thread, None)
            if event.kind == "begin":
                alive[event.thread] = event.tid
            else:
                alive.pop(event.thread, None)
        used = {sample.tid: _wanted_ns(sample) for sample in interval.samples}
        busiest = max(used.values(), default=0)
        elapsed = interval.end_ns - interval.start_ns
        active = busiest >= max(_LEAST_NS, _LEAST_RATE * elapsed)
        if active:
            fair = max(_LEAST_NS, _FAIR_SHARE * busiest)
            for number, tid in alive.items():
                if used.get(tid, 0) >= fair:
                    idle[number] = 0
                elif number in idle:
                    idle[number] += elapsed
        computing = tuple(sorted(number for number, idled in idle.items() if idled < _IDLE_NS))
        demand = self.demand
        if active:
            wanted = {number: used.get(alive[number], 0) / elapsed for number in computing}
            demand = demand.after(wanted, interval.runnable, elapsed)
        return Workers(tuple(sorted(alive.items())), computing, idle, demand, active)

    @property
    def tids(self) -> frozenset[int]:
        """Kernel ids of the computing threads."""
        computing = set(self.computing)
        return frozenset(tid for number, tid in self.alive if number in computing)

    @property
    def at_a_time(self) -> int:
        """Number of threads that recently wanted to run at a time: never more than compute."""
        return min(len(self.computing), self.demand.most or len(self.computing))

    @property
    def room(self) -> int:
        """Number of cores for the workers: one each until enough was seen.

        Each worker that hardly ever waits has a core; the others have some more cores than run at a
        time. Where that is nearly a core for each, each has one.
        """
        if not self.demand.settled:
            return len(self.computing)
        own = min(len(self._always), self.at_a_time)
        others = len(self.computing) - own
        room = room_for(self.at_a_time - own, others)
        return own + (others if room >= _NEARLY_ALL * others else room)

    @property
    def room_is_known(self) -> bool:
        """Whether the next looks change the room only if the program changes: threads that take
        turns were seen often enough, or all were seen to want to run at a time.
        """
        return self.demand.settled or self.demand.most >= len(self.computing)

    def seated_on(self, cores: int) -> tuple[int, ...]:
        """Numbers of the workers that have one of so many cores of their own, ascending.

        They are all workers, where there is a core for each; else those that hardly ever wait. The
        others share the cores of all.
        """
        return self.computing if cores == len(self.computing) else self._always

    @property
    def _always(self) -> tuple[int, ...]:
        return tuple(number for number in self.computing if self.demand.always(number))


def _wanted_ns(sample: CounterSample) -> float:
    """CPU time that a thread had or waited for, in nanoseconds.

    A thread that hardly runs waits at each wake-up, too: its waiting does not make it a worker.
    """
    had = sample.counted("task_clock_ns")
    return had + min(sample.counted("run_delay_ns"), _MOST_WAITING * had)
