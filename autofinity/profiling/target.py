"""The machine that programs are profiled on, and how they are sampled there."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.ports import Machine


@dataclass(frozen=True, slots=True)
class Target:
    """A machine with what its observations say of it."""

    machine: Machine
    name: str
    """Name of the machine in observations."""
    backend: str
    """Kind of the machine: `sim` or `linux`."""
    clock_hz: float
    """Clock that performance is counted in."""
    period_ns: int
    """Length of a sample."""
    version: str
    """Version of what made the observations."""
