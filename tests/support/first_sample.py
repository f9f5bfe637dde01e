"""When a run began to be sampled, and how far its set-up was then: on any machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from autofinity.ports import Interval, Outcome
from autofinity.runtime.live_state import LiveState


@dataclass
class FirstSample:
    """Observer of the loop."""

    at_ns: int = -1
    """End of the look after which threads were first sampled, or moved for it; -1: never."""
    progress: float = float("nan")
    resident_bytes: list[float] = field(default_factory=list)
    """After each look up to then."""
    phases: list[str] = field(default_factory=list)
    """Each once, in order."""

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        if self.at_ns < 0:
            self.resident_bytes.append(interval.resident_bytes)
        if self.at_ns < 0 and after.phase in ("settling", "sampling"):
            self.at_ns, self.progress = interval.end_ns, interval.progress
        if after.phase not in self.phases:
            self.phases.append(after.phase)
