"""Kinds of devices by PCI class. `native/launcher/devices.c` holds the same rules."""

from __future__ import annotations

from autofinity.model.devices import DeviceKind

_DISPLAYS_OF_CONSOLES = frozenset(
    {0x1A03, 0x102B, 0x1013, 0x1234, 0x1414, 0x15AD, 0x1AF4, 0x1B36, 0x80EE}
)
"""Vendors of VGA controllers that only show a console: service processors of servers (ASPEED,
Matrox) and virtual machines (Cirrus, QEMU, Hyper-V, VMware, virtio, QXL, VirtualBox)."""
_AMD = 0x1002
_ES1000 = (_AMD, 0x515E)
"""ATI's VGA controller for service processors."""


def kind_of(pci_class: int, vendor: int, device: int) -> DeviceKind | None:
    """Kind of a PCI function of the 16-bit class `pci_class`; None: no kind that threads drive."""
    base = pci_class >> 8
    if base == 0x03:
        console = vendor in _DISPLAYS_OF_CONSOLES or (vendor, device) == _ES1000
        return "display" if console and pci_class == 0x0300 else "gpu"
    if base == 0x12 and vendor == _AMD:  # its GPUs without displays
        return "gpu"
    if base == 0x12 or pci_class == 0x0B40:
        return "accelerator"
    if base == 0x02 or pci_class == 0x0C06:
        return "network"
    return "storage" if base == 0x01 else None
