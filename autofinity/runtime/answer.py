"""An answer of the policy in a run, with the samples that it is from."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.model.counters import Behaviour
from autofinity.model.policy import Decision


@dataclass(frozen=True, slots=True)
class Answer:
    """The policy's answer from the looks so far."""

    decision: Decision
    stands: bool
    """Whether the margin of the decision is larger than the noise of the looks."""
    start: Behaviour
    """The sample in the starting placement, which the policy was asked with."""
    probe: Behaviour | None = None
    """The sample of the second look, at the same phases."""
    slower: bool = False
    """Whether the second look was at a lower speed, as happens while caches still fill."""
    of_one_phase: bool = True
    """Whether both samples are of the same phases; False: no two looks were at the same phase."""
