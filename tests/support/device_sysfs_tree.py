"""Write devices into a sysfs tree, in the form that the kernel would give them, and read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autofinity.linux.device_parts import assembled
from autofinity.linux.sysfs_devices import sysfs_parts
from autofinity.model.devices import Device


def add_devices(
    root: Path, functions: Iterable[Mapping[str, Any]], members: Iterable[Mapping[str, Any]]
) -> Path:
    """Add PCI functions (`address`, `ids`: class, vendor and device, `node`) and members of classes
    (`class`, `name`, `hardware`: its folder below `devices`, if any). Returns `root`.
    """
    members = list(members)
    for each in functions:
        address = each["address"]
        around = next(
            (
                Path(member["hardware"][: member["hardware"].index(address) + len(address)])
                for member in members
                if address in member.get("hardware", "")
            ),
            Path("pci0000:00") / address,
        )
        folder = root / "devices" / around
        ids = zip(("class", "vendor", "device"), each["ids"].split(), strict=True)
        for name, text in (*ids, ("numa_node", each["node"])):
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"{text}\n")
        link(root / "bus" / "pci" / "devices" / address, folder)
    for each in members:
        where = each.get("hardware", "virtual")
        own = root / "devices" / where / each["class"] / each["name"]
        own.mkdir(parents=True)
        if "hardware" in each:
            link(own / "device", root / "devices" / where)
        link(root / "class" / each["class"] / each["name"], own)
    return root


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def sysfs_devices(root: Path = Path("/sys")) -> tuple[Device, ...]:
    """The devices below `root` that sysfs alone shows."""
    return assembled(sysfs_parts(root))
