"""Cost of a replay on the present machine, known before it begins; a replay that does not fit is
refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from autofinity._core import trace as traces
from autofinity.free_memory import free_bytes
from autofinity.model.errors import SimulationError

EVENT_BYTES = 26
"""Bytes of an event of a whole trace in memory, made dense (native/sim/program): a step, and its
share of lists."""
_QUICK_PER_S, _SLOW_PER_S = 200e6, 6e6
"""Accesses per second where nearly all hit the L1, and where all miss every cache
(docs/results.md)."""
_WORTH_BYTES, _WORTH_S = 256 << 20, 60.0


@dataclass(frozen=True, slots=True)
class ReplayCost:
    """Cost of one replay of a trace that is recorded whole."""

    memory_bytes: int
    least_s: float
    most_s: float

    @property
    def is_large(self) -> bool:
        """Whether a person should know of the cost beforehand."""
        return self.memory_bytes >= _WORTH_BYTES or self.most_s >= _WORTH_S

    def __str__(self) -> str:
        """Text for a person."""
        return (
            f"{self.memory_bytes / 2**30:.2f} GiB of memory and {self.least_s:.0f} to "
            f"{self.most_s:.0f} s"
        )


def replay_cost(trace: Path) -> ReplayCost | None:
    """Cost of a replay of the trace; None for a sampled trace, which takes seconds and little
    memory.

    Raises `TraceError`.
    """
    if traces.is_sampled(str(trace)):
        return None
    streams = traces.summary(str(trace))["streams"]
    accesses = sum(stream["accesses"] for stream in streams)
    return ReplayCost(
        EVENT_BYTES * sum(stream["events"] for stream in streams),
        accesses / _QUICK_PER_S,
        accesses / _SLOW_PER_S,
    )


def require_room(trace: Path, free: int | None = None) -> None:
    """Raise `SimulationError`, with the remedy, where a replay does not fit into memory.

    `free`: free bytes; None: the system's. Raises `TraceError`.
    """
    cost = replay_cost(trace)
    room = free_bytes() if free is None else free
    if cost is not None and cost.memory_bytes > room:
        raise SimulationError(
            f"a replay of {trace} takes about {cost.memory_bytes / 2**30:.1f} GiB of memory "
            f"({EVENT_BYTES} bytes an event), and {room / 2**30:.1f} GiB are free; capture it "
            "sampled (`autofinity capture --sampled`), with a smaller input, or free some memory"
        )
