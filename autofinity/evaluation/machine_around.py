"""A machine around another one, to see what a run does there."""

from __future__ import annotations

from collections.abc import Mapping

from autofinity.model.topology import Topology
from autofinity.ports import Machine


class MachineAround[M: Machine]:
    """All of `ports.Machine` but `start`, as the inner machine has it."""

    def __init__(self, machine: M) -> None:
        self._machine = machine

    @property
    def topology(self) -> Topology:
        """The machine's."""
        return self._machine.topology

    def events(self) -> Mapping[str, str]:
        """The machine's."""
        return self._machine.events()
