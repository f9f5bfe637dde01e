"""Samples of a watched program, the last of each kind."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.model.affinity import Affinity
from autofinity.model.counters import Behaviour
from autofinity.runtime.answer import Answer


@dataclass(frozen=True, slots=True)
class Samples:
    """The samples so far. Start with `Samples()`."""

    start: Behaviour | None = None
    """Where the program was sampled first."""
    start_in: Affinity | None = None
    """Affinity there; None where no thread was bound."""
    probe: Behaviour | None = None
    """The sample of the second look."""
    probe_in: Affinity | None = None
    asked: tuple[Behaviour, Behaviour | None] | None = None
    """Samples that the policy was asked with when it decided, the second look's sample last."""
    outcome: Behaviour | None = None
    """Sample of the same program in the chosen affinity, when that is another affinity."""

    def started(self, start: Behaviour, affinity: Affinity | None) -> Samples:
        """With a new first sample, which has no outcome yet."""
        return replace(self, start=start, start_in=affinity, outcome=None)

    def probed(self, probe: Behaviour, affinity: Affinity | None) -> Samples:
        """With a sample of the second look."""
        return replace(self, probe=probe, probe_in=affinity)

    def without_probe(self) -> Samples:
        """Before the second look of another sample."""
        return replace(self, probe=None, probe_in=None)

    def asked_with(self, answer: Answer) -> Samples:
        """After the policy has decided by an answer."""
        return replace(self, asked=(answer.start, answer.probe))

    def seen_in(self, affinity: Affinity) -> Behaviour | None:
        """The sample of the policy's looks in this affinity."""
        return {self.start_in: self.start, self.probe_in: self.probe}.get(affinity)

    def elsewhere(self, affinity: Affinity | None) -> bool:
        """Whether an affinity is another one than that of the first sample."""
        return affinity != self.start_in or None in (affinity, self.start_in)

    def wants_outcome(self, affinity: Affinity | None) -> bool:
        """Whether the chosen affinity is still to be sampled for learning."""
        return (
            self.start is not None
            and self.outcome is None
            and None not in (affinity, self.start_in)
            and affinity not in (self.start_in, self.probe_in)
        )

    @property
    def latest(self) -> Behaviour | None:
        """The sample that shows the placed program best."""
        return self.outcome or self.start
