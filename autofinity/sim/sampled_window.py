"""One window of a sampled trace, replayed by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from autofinity._core import sim as core
from autofinity.sim.replay import PagePolicy

LEAD = 0.12
"""Share of a window's instructions that warms state outside the snapshots: prefetchers, queues, and
the relative progress of threads."""


@dataclass(frozen=True, slots=True)
class Pages:
    """Nodes of pages; see `autofinity.sim.replay.simulate`."""

    policy: PagePolicy = "first_touch"
    bind_node: int = 0
    nodes: Mapping[int, int] = field(default_factory=dict)
    """Node of single virtual page numbers (4 KiB); it overrides the policy."""


@dataclass(frozen=True, slots=True)
class WindowResult:
    """Times and counts of a window, from the end of its lead until the first thread ran out of
    events.

    A thread that waited for another one when the capture closed the window does not end the window:
    the thread goes on waiting (`after_end_ns`).
    """

    time_ns: float
    """Simulated time."""
    totals: npt.NDArray[np.uint64]
    """Counts in that time, [streams, events], as `Simulation.totals`."""
    barrier_wait_ns: npt.NDArray[np.float64]
    """Time that each stream waited at barriers, [streams]."""
    after_end_ns: npt.NDArray[np.float64]
    """Time in which each stream had no event left, [streams]."""
    barriers: int
    """Number of times that all threads of a barrier had reached it."""


def replay_window(
    machine: core.MachineModel,
    window: core.Program,
    pus: Sequence[int],
    *,
    lead: float = LEAD,
    seed: int = 0,
    pages: Pages | None = None,
) -> WindowResult:
    """Warm caches, TLBs and pages to their state at the window's start, then time the window.

    Args:
        machine: the machine.
        window: a window of a sampled trace; shared by any number of replays.
        pus: logical PU of each stream.
        lead: share of the window's instructions that is replayed but not measured, 0 to 1.
        seed: random seed for the physical page colours.
        pages: node of a page on first touch, also of pages touched before the window.

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
