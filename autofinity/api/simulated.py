"""A captured program replayed on a simulated machine."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from autofinity.api.arguments import count_of, cpu_numbers_of
from autofinity.api.hints import as_hint
from autofinity.api.machines import Machine, name_of
from autofinity.api.policies import Policy, as_policy
from autofinity.api.traces import Trace, folder_of
from autofinity.model.affinity import Affinity, Hint
from autofinity.model.errors import UsageError
from autofinity.model.topology import OsIndex, Topology

if TYPE_CHECKING:
    import pandas as pd

    from autofinity.sim.result import SimResult

type Pages = Literal["first_touch", "interleave"]
DEFAULT_PERIOD_US = 500.0


@dataclass(frozen=True, slots=True)
class Simulation:
    """Result of a replay of the region of interest. Notebooks show the threads on the machine, and
    the counts.

    * `machine`: name of the simulated machine.
    * `roi_s`: simulated seconds of the region.
    * `error`: relative standard error of the time; 0 where the whole run was replayed.
    * `ipc`: instructions per elapsed clock and thread.
    * `cpus`: the kernel's number of each placed thread's CPU, in thread order.
    * `topology`, `inside`: internal types, which may change.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> replay = af.simulate(trace, "opteron-6164he", cpus=[0, 6], period_us=50)
    >>> replay.cpus, replay.threads.shape[0], bool(replay.counts["instructions"] > 0)
    ((0, 6), 2, True)
    >>> list(replay.samples.columns[:2])
    ['start_s', 'end_s']
    """

    machine: str
    roi_s: float
    error: float
    ipc: float
    cpus: tuple[int, ...]
    topology: Topology = field(repr=False)
    inside: SimResult = field(repr=False)

    @property
    def counts(self) -> pd.Series[int]:
        """Count of each event, by name, over all threads of the program."""
        import pandas as pd

        from autofinity.sim.events import EVENTS

        return pd.Series({event: self.inside.total(event) for event in EVENTS}, name="count")

    @property
    def threads(self) -> pd.DataFrame:
        """Counts of the region: one row for each placed thread, one column for each event."""
        import pandas as pd

        from autofinity.sim.events import EVENTS

        return pd.DataFrame({event: self.inside.of_workers(event) for event in EVENTS})

    @property
    def samples(self) -> pd.DataFrame:
        """Table with one row for each sample period.

        Columns: `start_s` and `end_s` since the region began, and one for each event, over all
        threads. The table has no rows where the period was 0.
        """
        import pandas as pd

        from autofinity.sim.events import EVENTS

        counts = self.inside.samples.sum(axis=1)
        frame = pd.DataFrame(counts, columns=list(EVENTS))
        frame.insert(0, "start_s", self.inside.times_ns[:, 0] / 1e9)
        frame.insert(1, "end_s", self.inside.times_ns[:, 1] / 1e9)
        return frame

    def __str__(self) -> str:
        error = f" (standard error {100 * self.error:.1f} %)" if self.error else ""
        return (
            f"{self.machine}: {len(self.cpus)} threads, {1e3 * self.roi_s:.4g} ms{error}, "
            f"{self.ipc:.3g} instructions per clock and thread"
        )

    def _repr_html_(self) -> str:
        from autofinity.api.html import table_html
        from autofinity.report.machine_drawing import OnMachine, machine_svg
        from autofinity.sim.events import EVENTS

        seated = OnMachine.seated([OsIndex(cpu) for cpu in self.cpus])
        counts = self.counts
        instructions = max(int(counts["instructions"]), 1)
        rows = [
            (str(event), f"{count:,}", f"{1e3 * count / instructions:.4g}", EVENTS[str(event)])
            for event, count in counts.items()
            if count
        ]
        table = table_html(("event", "count", "per 1,000 instructions", "meaning"), rows)
        folded = f"<details><summary>counts of the region</summary>{table}</details>"
        return machine_svg(self.topology, seated, lines=[str(self)]) + folded


@dataclass(frozen=True, slots=True)
class PolicyRun:
    """A replay whose threads a policy moved. Notebooks show what it did, in order.

    * `machine`: name of the simulated machine.
    * `roi_s`: simulated seconds of the region of interest, samples and moves included.
    * `hints`: placements of the threads, in order; the last is the answer, unless the program ended
      first.
    * `decided_at_s`: simulated seconds from the start of the region to the decision; NaN where the
      program ended first.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> run = af.simulate_policy(trace, "opteron-6164he", "any-machine")
    >>> run.machine, run.roi_s > 0
    ('opteron-6164he', True)
    """

    machine: str
    roi_s: float
    hints: tuple[Hint, ...]
    decided_at_s: float

    def __str__(self) -> str:
        done = " → ".join(hint.shown for hint in self.hints)
        decided = (
            "the program ended before the decision"
            if math.isnan(self.decided_at_s)
            else f"decided after {1e3 * self.decided_at_s:.4g} ms"
        )
        return f"{self.machine}: {1e3 * self.roi_s:.4g} ms; {done}; {decided}"

    def _repr_html_(self) -> str:
        from autofinity.api.html import lines_html

        return lines_html(str(self).split("; "))


def simulate(
    trace: Trace | Path | str,
    machine: Machine | str,
    *,
    hint: Hint | str | None = None,
    affinity: Affinity | str | None = None,
    cpus: Sequence[int] | None = None,
    threads: int | None = None,
    pages: Pages = "first_touch",
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
) -> Simulation:
    """Replay a trace with its threads bound by a hint, an affinity (`{2,2}{4}`), or the kernel's
    numbers of CPUs (thread i on the i-th CPU); by default spread.

    The machine is one of `machines()`, a machine file or a topology (`machine`), for which
    latencies are assumed. `threads` is the number of placed threads, by default as many as the
    program had. `period_us` is the sample period in simulated microseconds; `seed` is the random
    seed for page colours. Raises `AutofinityError` for more than one of hint, affinity and CPUs,
    and for a missing trace or machine.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> spread = af.simulate(trace, "opteron-6164he")
    >>> packed = af.simulate(trace, "opteron-6164he", affinity="{2}")
    >>> packed.roi_s < spread.roi_s
    True
    """
    from autofinity.workflow.backends import simulated_spec
    from autofinity.workflow.simulate import Seats, simulate_trace

    if sum(each is not None for each in (hint, affinity, cpus)) > 1:
        raise UsageError("got more than one of hint, affinity and cpus; expected one")
    if cpus is not None:
        seats = Seats(cpus=cpu_numbers_of(cpus, "cpus"))
    elif affinity is not None:
        seats = Seats(affinity=_affinity(affinity))
    else:
        seats = Seats(hint=as_hint(hint or "spread"))
    spec = simulated_spec(name_of(machine))
    found = simulate_trace(
        spec,
        folder_of(trace),
        seats,
        threads=None if threads is None else count_of(threads, "threads"),
        period_us=period_us,
        seed=seed,
        pages=pages,
    )
    return Simulation(
        name_of(machine),
        found.roi_ns / 1e9,
        found.error,
        found.ipc,
        tuple(map(int, found.cpus)),
        spec.topology,
        found,
    )


def simulate_policy(
    trace: Trace | Path | str,
    machine: Machine | str,
    policy: Policy | Path | str,
    *,
    threads: int | None = None,
    period_us: float = DEFAULT_PERIOD_US,
    seed: int = 0,
) -> PolicyRun:
    """Replay a trace whose threads start spread, are sampled, and are moved by the policy.

    The policy may be a name or a file, as for `load_policy`; other arguments are those of
    `simulate`. Raises `AutofinityError` for a missing trace, machine or policy.

    >>> (trace,) = af.capture_traces("prodcons", "traces", threads=2, size="tiny")
    >>> af.simulate_policy(trace, "opteron-6164he", "any-machine").hints[0].name
    'spread'
    """
    from autofinity.workflow import simulate as replays
    from autofinity.workflow.backends import simulated_spec

    found = replays.simulate_policy(
        simulated_spec(name_of(machine)),
        folder_of(trace),
        as_policy(policy).inside,
        threads=None if threads is None else count_of(threads, "threads"),
        period_us=period_us,
        seed=seed,
    )
    return PolicyRun(name_of(machine), found.roi_s, found.hints, found.decided_at_s)


def _affinity(affinity: Affinity | str) -> Affinity:
    if isinstance(affinity, Affinity):
        return affinity
    if not isinstance(affinity, str):
        raise UsageError(f"affinity is {affinity!r:.60}; expected one such as '{{6,2}}{{1}}'")
    try:
        return Affinity.parse(affinity)
    except ValueError as error:
        raise UsageError(str(error)) from None
