"""`ports.Machine` of the present machine: programs are started, bound and counted by perf.

With more events than the PMU counts at once there are several runs, merged by period: period *i* of
one run is matched with period *i* of the others, by elapsed time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from autofinity.linux.capabilities import probe
from autofinity.linux.event_tables import Encoding, event_table, this_cpu
from autofinity.linux.kernel_file import read_text
from autofinity.linux.marked_run import Conditions, MarkedRun
from autofinity.linux.topology import host_topology
from autofinity.model.errors import CapabilityError
from autofinity.model.placement import FIRST_TOUCH, Placement
from autofinity.model.topology import Topology
from autofinity.ports import Action, Interval, Outcome, Process, RunRequest, Sensors

AT_ONCE = 4
"""Number of events that any PMU with programmable counters counts at once, cycles and instructions
included; with more, the kernel multiplexes, which the samples show."""
ALWAYS = "instructions"
"""Event of every run: a sample without it cannot be learned from."""


type Asked = tuple[tuple[str, ...], int]
"""Arguments and threads of a run. Several programs of a suite may be scripts of one interpreter."""


def host_machine(conditions: Mapping[Asked, Conditions]) -> HostMachine:
    """The present machine with the events that its CPU has names for; `conditions` of runs.

    Raises `CapabilityError`, which names the alternatives, where nothing is counted in hardware.
    """
    counters = probe()["hardware counters"]
    if not counters.available:
        remedy = f"; {counters.remedy}" if counters.remedy else ""
        raise CapabilityError(
            f"--machine host: no hardware counters here: {counters.detail}{remedy}. Or use a "
            "simulated twin of this machine: its topology, with --latencies assumed, those of a "
            "machine file or preset, or, measured by `autofinity record-machine "
            "-o host.toml`, those of --machine host.toml"
        )
    return HostMachine(host_topology(), event_table(this_cpu()), conditions)


@dataclass(frozen=True, slots=True)
class HostMachine:
    """Data that `start` needs."""

    topology: Topology
    encodings: Mapping[str, Encoding]
    conditions: Mapping[Asked, Conditions]
    at_once: int = AT_ONCE

    @property
    def clock_hz(self) -> float:
        """Highest clock of the first CPU; 1 GHz where the kernel does not report it."""
        khz = read_text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq").strip()
        return float(khz) * 1e3 if khz.isdigit() else 1e9

    def events(self) -> Mapping[str, str]:
        """Events of this CPU's table."""
        return {name: each.libpfm or name for name, each in self.encodings.items()}

    def start(
        self,
        request: RunRequest,
        placement: Placement | None,
        sensors: Sensors,
        seed: int = 0,
    ) -> Process:
        """Start the program, once for each group of events. The seed is unused here.

        Raises `CapabilityError` for a detector and for a request that only a simulated machine can
        follow, and `LinuxError` as `MarkedRun` does.
        """
        del seed
        if sensors.detectors:
            raise CapabilityError(
                "this machine has no detectors of sharing yet; use a simulated one, or leave "
                "Sensors.detectors empty"
            )
        if sensors.reads_by_node:
            raise CapabilityError(
                "a real machine counts no reads by node; expected Sensors.reads_by_node with a "
                "simulated one only"
            )
        if request.repeats != 1 or request.pages != FIRST_TOUCH:
            raise CapabilityError(
                "a real machine runs a program's region once, with pages where they are first "
                "touched; expected a simulated machine for anything else"
            )
        conditions = self.conditions.get((request.argv, request.threads), Conditions())

        def one(names: Sequence[str]) -> MarkedRun:
            some = {name: self.encodings[name] for name in names if name in self.encodings}
            return MarkedRun(request, placement, some, conditions)

        groups = event_groups(sensors.counters, self.at_once)
        return one(groups[0]) if len(groups) == 1 else SeveralRuns(one, groups)


def event_groups(events: Sequence[str], at_once: int) -> list[tuple[str, ...]]:
    """Groups of at most `at_once` events, with `ALWAYS` in each (if `events` has it at all)."""
    first = tuple(name for name in events if name == ALWAYS)
    others = [name for name in events if name != ALWAYS]
    size = max(1, at_once - len(first))
    return [(*first, *others[at : at + size]) for at in range(0, max(1, len(others)), size)]


class SeveralRuns:
    """`ports.Process` of consecutive runs, each with other events, seen as one run.

    No action is possible: all runs are over before their periods are known.
    """

    def __init__(
        self, start: Callable[[Sequence[str]], Process], groups: Sequence[tuple[str, ...]]
    ) -> None:
        self._start, self._groups = start, groups
        self._left: list[Interval] | None = None

    def advance(self, duration_ns: int) -> Interval:
        """The next period. The first call makes all runs, with periods of this duration."""
        if self._left is None:
            runs = [_intervals(self._start(group), duration_ns) for group in self._groups]
            self._left = merged(runs)
        return self._left.pop(0)

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Refuse all actions."""
        return Outcome(0, len(actions), ("several runs, merged, are over",) if actions else ())


def _intervals(process: Process, period_ns: int) -> list[Interval]:
    found: list[Interval] = []
    while not found or not found[-1].ended:
        found.append(process.advance(period_ns))
    return found


def merged(runs: Sequence[Sequence[Interval]]) -> list[Interval]:
    """Runs merged period by period, as many periods as the shortest run has; times are those of the
    first run.

    Counts of a later run come in samples of their own, scaled to the length of the first run's
    period, without the events that an earlier run has counted.
    """
    periods: list[Interval] = []
    for together in zip(*runs, strict=False):
        first, seen = together[0], set[str]()
        samples = []
        for interval in together:
            scale = (first.end_ns - first.start_ns) / max(1, interval.end_ns - interval.start_ns)
            new = {name for sample in interval.samples for name in sample.counts} - seen
            seen |= new
            samples += [
                replace(
                    sample,
                    counts={
                        name: round(count * scale)
                        for name, count in sample.counts.items()
                        if name in new
                    },
                )
                for sample in interval.samples
            ]
        periods.append(replace(first, samples=tuple(samples), ended=False))
    periods[-1] = replace(periods[-1], ended=True)
    return periods
