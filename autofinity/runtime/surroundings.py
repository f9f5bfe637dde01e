"""Surroundings of a watched program, and the mechanism that is made from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import RulePolicy
from autofinity.model.topology import OsIndex, Topology
from autofinity.ports import Mechanism
from autofinity.runtime.journal import Journal
from autofinity.runtime.live_state import LiveState
from autofinity.runtime.request import Request


class Deciding[State: LiveState](Mechanism[State], Protocol):
    """A mechanism that gives the length of each look, and whose state shows the progress of the
    run.
    """

    def period_ns(self, state: State) -> int:
        """Length of the next look."""
        ...


@runtime_checkable
class SeesMemory(Protocol):
    """A mechanism that puts threads near the program's memory."""

    def sees_memory(self, memory: Callable[[], MemoryByNode | None]) -> None:
        """From now on `memory` looks where the program's memory is."""
        ...


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings that a mechanism is made from."""

    topology: Topology
    policy: RulePolicy | None
    available: Callable[[], frozenset[OsIndex]]
    """CPUs that may be used now."""
    journal: Journal
    divided: bool = False
    """Whether these CPUs are a rank's share, which it keeps to whatever is decided."""


type Make = Callable[[Request, Surroundings], Deciding[Any]]
"""Makes the mechanism that places the threads of a request's program."""
