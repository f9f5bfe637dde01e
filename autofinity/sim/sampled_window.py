"""One window of a sampled trace, replayed by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity.sim.replay import PagePolicy

LEAD = 0.12
"""Share of a window's instructions that warms what snapshots do not hold: prefetchers, queues, how
threads stand to each other."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Where pages go; see `autofinity.sim.replay.simulate`."""

    policy: PagePolicy = "first_touch"
    bind_node: int = 0
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Of single virtual page numbers (4 KiB), before the policy."""


@dataclass(frozen=True, slots=True)
class WindowResult:
    """What a window took, from the end of its lead until the first thread ran out of events.

    A thread that waited for another one when the capture closed the window does not end it: it
    waits on, `after_end_ns`.
    """

    time_ns: float
    """Simulated time."""
    totals: npt.NDArray[np.uint64]
    """Counts in that time, [streams, events], as `Simulation.totals`."""
    barrier_wait_ns: npt.NDArray[np.float64]
    """Of that time, what each stream waited at barriers, [streams]."""
    after_end_ns: npt.NDArray[np.float64]
    """Of that time, how long each stream had no event left, [streams]."""
    barriers: int
    """How often in that time all whom a barrier was for had come to it."""


def replay_window(
    machine: core.MachineModel,
    window: core.Program,
    pus: Sequence[int],
    *,
    lead: float = LEAD,
    seed: int = 0,
    pages: Pages | None = None,
) -> WindowResult:
    """Warm caches, TLBs and pages as the window found them, then time it.

    Args:
        machine: the machine.
        window: of a sampled trace; shared by any number of replays.
        pus: logical PU of each stream.
        lead: share of the window's instructions that is replayed but not measured, 0 to 1.
        seed: of the physical page colours.
        pages: where a page goes on first touch, those before the window too.

    Raises `SimulationError`.

    """
    pages = pages or Pages()
    simulation = core.Simulation(
        machine,
        window,
        pus,
        seed=seed,
        page_policy=pages.policy,
        node=pages.bind_node,
        page_table=dict(pages.nodes),
    )
    time_ns, barriers, barrier_wait_ns, after_end_ns = simulation.run_window(lead)
    return WindowResult(
        time_ns=time_ns,
        totals=simulation.totals(),
        barrier_wait_ns=barrier_wait_ns,
        after_end_ns=after_end_ns,
        barriers=barriers,
    )
