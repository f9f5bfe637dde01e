"""The guest's first files: busybox, modules, and the script that mounts everything else."""

from __future__ import annotations

from pathlib import Path

from packages import Parts

_FOLDER, _FILE, _DEVICE = 0o40755, 0o100755, 0o20600
_CONSOLE = (5, 1)


def initramfs(parts: Parts) -> bytes:
    """A cpio archive of the "new ASCII" kind, as Linux's driver-api/early-userspace asks for."""
    archive = _Archive()
    for name in ("bin", "dev", "proc", "sys", "lower", "upper", "root", "modules"):
        archive.add(name, _FOLDER)
    archive.add("dev/console", _DEVICE, device=_CONSOLE)
    archive.add("bin/busybox", _FILE, parts.busybox.read_bytes())
    for module in parts.modules:
        archive.add(f"modules/{module.name}", _FILE, module.read_bytes())
    archive.add("init", _FILE, Path(__file__).with_name("init").read_bytes())
    archive.add("TRAILER!!!", 0)
    return bytes(archive.content)


class _Archive:
    def __init__(self) -> None:
        self.content = bytearray()
        self._count = 0

    def add(
        self, name: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        self._count += 1
        path = name.encode() + b"\0"
        # Inode, mode, owner, group, links, time, size, device twice, length of the name, checksum.
        numbers = (self._count, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(path), 0)
        self.content += b"070701" + b"".join(b"%08X" % number for number in numbers)
        self._padded(path)
        self._padded(data)

    def _padded(self, data: bytes) -> None:
        self.content += data
        self.content += b"\0" * (-len(self.content) % 4)
