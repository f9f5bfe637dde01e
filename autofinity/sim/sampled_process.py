"""`ports.Process` on a sampled trace: one window's stretch at each `advance`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError
from autofinity.ports import Action, Interval, Outcome, Sensors, ThreadEvent
from autofinity.sim.energy import energy_j
from autofinity.sim.result import EVENT_INDEX
from autofinity.sim.spec import MachineSpec
from autofinity.sim.window_sum import RegionEstimate


class SampledProcess:
    """A region of interest, stretch by stretch. Threads are the trace's workers.

    The windows decide the length of an interval, not the caller of `advance`. Threads and pages
    stay where they are: windows are replayed in one placement, each by itself.
    """

    def __init__(
        self,
        replay: Callable[[], RegionEstimate],
        spec: MachineSpec,
        workers: Sequence[int],
        sensors: Sensors,
    ) -> None:
        """`replay` is called at the first `advance`. Raises `CapabilityError` for detectors and
        for reads by node.
        """
        if sensors.detectors:
            raise CapabilityError(
                "a sampled trace shows windows of a run, and what a detector learns takes all of "
                "it; capture the program with --whole"
            )
        if sensors.reads_by_node:
            raise CapabilityError(
                "a sampled trace has no reads by node; capture the program with --whole"
            )
        self._replay = replay
        self._spec = spec
        self._workers = list(workers)
        self._columns = {name: EVENT_INDEX[name] for name in sensors.counters}
        self._whole: RegionEstimate | None = None
        self._next = 0
        self._now_ns = 0.0

    def memory(self) -> None:
        """None, since the memory is not known: each window has pages of its own."""

    def pages_on(self, node: int, one_in: int = 1) -> Iterator[Sequence[int]]:
        """No pages."""
        del node, one_in
        yield from ()

    def advance(self, duration_ns: int) -> Interval:
        """The next window's stretch, for any `duration_ns`. Raises `SimulationError`."""
        if self._whole is None:
            self._whole = self._replay()
        whole, number = self._whole, self._next
        self._next += 1
        last = self._next == len(whole.windows)
        start_ns = round(self._now_ns)
        self._now_ns += float(whole.stretch_ns[number])
        end_ns = round(self._now_ns)
        threads = range(len(self._workers))
        events = tuple(ThreadEvent("begin", t, t, start_ns) for t in threads) if number == 0 else ()
        if last:
            events += tuple(ThreadEvent("end", t, t, end_ns) for t in threads)
        counts = np.rint(whole.counts[number])
        machine = dict(zip(EVENT_INDEX, counts.sum(axis=0).tolist(), strict=True))
        return Interval(
            start_ns,
            end_ns,
            tuple(
                CounterSample(
                    tid=thread,
                    start_ns=start_ns,
                    end_ns=end_ns,
                    counts={n: int(counts[worker, at]) for n, at in self._columns.items()},
                    enabled_ns=end_ns - start_ns,
                    running_ns=end_ns - start_ns,
                )
                for thread, worker in enumerate(self._workers)
            ),
            events,
            progress=float(whole.progress[number]),
            ended=last,
            energy_j=energy_j(self._spec, machine, (end_ns - start_ns) / 1e9),
        )

    def apply(self, actions: Sequence[Action]) -> Outcome:
        """Refuse actions: raises `CapabilityError` unless there are none."""
        if actions:
            raise CapabilityError(
                "threads and pages of a sampled trace cannot be moved within the run; capture the "
                "program with --whole"
            )
        return Outcome(0, 0, (), 0)
