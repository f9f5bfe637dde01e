"""The placement that an earlier run of a program ended in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autofinity.model.affinity import Hint

type SeatOrder = Literal["near home", "by number", "exchanged"]
"""How threads sit on the seats of an affinity: where they ran before; so that threads with
neighbouring numbers share caches, nodes and sockets; or so, but with halves of the caches' threads
exchanged."""


@dataclass(frozen=True, slots=True)
class AnswerOnRecord:
    """A hint, and the order of threads in its affinity."""

    hint: Hint
    order: SeatOrder = "near home"
