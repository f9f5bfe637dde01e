"""Time that threads have stayed where they are."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.runtime.looks import Look


@dataclass(frozen=True, slots=True)
class Stay:
    """Record since threads were last moved. Start with `Stay()`."""

    ns: int = 0
    """Time for which the program has settled, been sampled or been judged."""
    apart_ns: int = 0
    """Time in which threads were not all at work."""
    settled: bool = False
    """Whether one look at the chosen affinity has passed undisturbed."""
    outcomes: tuple[Look, ...] = ()
    """Looks in the chosen affinity since."""

    def looked(self, ns: int) -> Stay:
        """After a look of this length."""
        return replace(self, ns=self.ns + ns)

    def apart(self, ns: int) -> Stay:
        """After a look of this length that does not count."""
        return replace(self, apart_ns=self.apart_ns + ns)

    def from_now(self) -> Stay:
        """Time counts from here."""
        return replace(self, ns=0)

    def disturbed(self) -> Stay:
        """Other threads compute: looks in the chosen affinity begin again."""
        return replace(self, settled=False, outcomes=())

    def saw_outcome(self, look: Look) -> Stay:
        """After a look in the chosen affinity."""
        return replace(self, outcomes=(*self.outcomes, look))
