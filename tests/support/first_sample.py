"""The time of a run's first sample, and the state of its set-up then: on any machine."""

from __future__ import annotations

from dataclasses import dataclass, field

from autofinity.ports import Interval, Outcome
from autofinity.runtime.live_state import LiveState


@dataclass
class FirstSample:
    """Observer of the loop."""

    at_ns: int = -1
    """End of the look after which threads were first sampled, or moved for a sample; -1: never."""
    progress: float = float("nan")
    resident_bytes: list[float] = field(default_factory=list)
    """Resident bytes after each look until then."""
    phases: list[str] = field(default_factory=list)
    """Phases, each once, in order."""

    def saw(
        self, before: LiveState, after: LiveState, interval: Interval, outcome: Outcome | None
    ) -> None:
        if self.at_ns < 0:
            self.resident_bytes.append(interval.resident_bytes)
        if self.at_ns < 0 and after.phase in ("settling", "sampling"):
            self.at_ns, self.progress = interval.end_ns, interval.progress
        if after.phase not in self.phases:
            self.phases.append(after.phase)
