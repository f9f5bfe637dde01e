"""A trial that is under way: one more hint beside the two that the policy was asked with."""

from __future__ import annotations

from dataclasses import dataclass, replace

from autofinity.model.affinity import Hint
from autofinity.model.policy import SecondLook
from autofinity.runtime.asking import Answer
from autofinity.runtime.looks import Look


@dataclass(frozen=True, slots=True)
class Trying:
    """The question of a trial, and the looks so far."""

    question: SecondLook
    """As `Trial.against` gives it."""
    reference: tuple[Look, ...]
    """Looks in the affinity of the answer."""
    answer: Answer
    """The answer that stands if threads are no faster."""
    looks: tuple[Look, ...] = ()

    @property
    def tried(self) -> Hint:
        """The hint on trial."""
        return self.question.sampled_in

    def saw(self, look: Look) -> Trying:
        """The trial with one more look."""
        return replace(self, looks=(*self.looks, look))
