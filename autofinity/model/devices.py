"""I/O devices of a machine: what they are called, and where they hang."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from autofinity.model.topology import OsIndex

DeviceKind = Literal["gpu", "accelerator", "network", "storage", "display"]
"""A display only shows a console: that of a service processor or a virtual machine."""


@dataclass(frozen=True, slots=True)
class Device:
    """One device, for example a PCI function, with all names that it goes by."""

    names: tuple[str, ...]
    """Names that Linux or hwloc gives it (`eth0`, `mlx5_0`, `card0`, `cuda0`), and `gpu0`, …, for
    GPUs in the order of their PCI addresses; empty where no driver names it."""
    kind: DeviceKind
    pci: str = ""
    """PCI address, `0000:3b:00.0`; empty where the device is on no PCI bus."""
    nodes: tuple[OsIndex, ...] = ()
    """Kernel numbers of the NUMA nodes that it hangs on, in ascending order; empty: not known."""
    cpus: frozenset[OsIndex] = frozenset()
    """Kernel numbers of the CPUs that are local to it; empty: not known, or all."""

    @property
    def is_driven(self) -> bool:
        """Whether a program may drive it: without a name, only what programs reach without one."""
        return bool(self.names) or self.kind in ("gpu", "accelerator", "network")

    def is_called(self, name: str) -> bool:
        """Whether `name` is one of its names or its PCI address (with or without the domain 0000,
        in any case).
        """
        short = self.pci.removeprefix("0000:")
        return name in self.names or (bool(self.pci) and name.lower() in (self.pci, short))
