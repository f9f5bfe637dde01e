"""The placement that an earlier run of a program ended in."""

from __future__ import annotations

from dataclasses import dataclass

from autofinity.model.affinity import Hint


@dataclass(frozen=True, slots=True)
class AnswerOnRecord:
    """A hint, and the order of threads in its affinity."""

    hint: Hint
    by_number: bool = False
    """Whether threads in the order of their numbers were faster than near home."""
