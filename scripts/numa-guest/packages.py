"""QEMU, a stock kernel and busybox from Debian's packages: fetched once, by anybody, and kept.

cache/
  qemu/       the packages of QEMU that are not installed, unpacked
  vmlinux     the kernel, uncompressed: an emulated CPU would take seconds over that
  modules/    what it needs to mount our files, numbered in the order of loading
  busybox
"""

from __future__ import annotations

import fcntl
import lzma
import os
import platform
import re
import shutil
import struct
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TextIO

QEMU = "qemu-system-x86_64"
_MODULES = ("virtio_pci", "9p", "9pnet_virtio", "overlay")
_FETCH_S = 120  # all steps together, on a slow line
_LOOK_S = 0.2  # between two checks whether another process has finished fetching
_XZ = b"\xfd7zXZ\0"


class NoGuestError(Exception):
    """The reason why no guest can run here."""


@dataclass(frozen=True)
class Parts:
    """The parts of a guest."""

    folder: Path

    @property
    def kernel(self) -> Path:
        return self.folder / "vmlinux"

    @property
    def busybox(self) -> Path:
        return self.folder / "busybox"

    @property
    def modules(self) -> list[Path]:
        return sorted((self.folder / "modules").iterdir())

    def qemu(self) -> tuple[list[str], dict[str, str]]:
        """Command and environment of QEMU: the system's, else the one fetched."""
        environment = dict(os.environ)
        installed = shutil.which(QEMU)
        if installed is not None:
            return [installed], environment
        root = self.folder / "qemu"
        folders = [
            str(path) for path in (*root.glob("usr/lib/*-linux-gnu"), *root.glob("lib/*-linux-gnu"))
        ]
        environment["LD_LIBRARY_PATH"] = ":".join(folders)
        firmware = [
            word for name in ("qemu", "seabios") for word in ("-L", str(root / "usr/share" / name))
        ]
        return [str(root / "usr" / "bin" / QEMU), *firmware], environment


def fetched(limit_s: float) -> Parts:
    """The parts, from the cache or fetched now, by us or by another process that does so.

    Raises `NoGuestError`, also when that takes longer than `limit_s` or two minutes.
    """
    end = time.monotonic() + min(limit_s, _FETCH_S)
    if platform.machine() != "x86_64":
        raise NoGuestError(f"the guest is an x86-64 machine, this is {platform.machine()}")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "autofinity"
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with (cache / "numa-guest.lock").open("w") as lock:
            _locked(lock, end)
            parts = Parts(cache / "numa-guest")
            if not parts.folder.exists():
                with TemporaryDirectory(dir=cache) as folder:
                    _fetch(Path(folder), end)
                    Path(folder, "parts").rename(parts.folder)
    except OSError as error:
        raise NoGuestError(f"its parts cannot be kept in {cache}: {error}") from error
    return parts


def _locked(lock: TextIO, end: float) -> None:
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise NoGuestError(
                    f"somebody else has been fetching its parts: {lock.name}"
                ) from None
            time.sleep(_LOOK_S)
        else:
            return


def _fetch(folder: Path, end: float) -> None:
    apt = _Apt(folder, end)
    names = [*apt.missing("qemu-system-x86"), apt.dependency("linux-image-amd64"), "busybox-static"]
    parts = folder / "parts"
    (parts / "modules").mkdir(parents=True)
    for package in apt.download(names):
        kind = next(
            (kind for kind in ("linux-image", "busybox") if package.name.startswith(kind)), ""
        )
        into = folder / kind if kind else parts / "qemu"
        _run(["dpkg-deb", "-x", str(package), str(into)], end)
    shutil.copy(folder / "busybox" / "bin" / "busybox", parts / "busybox")
    kernel = next((folder / "linux-image" / "boot").glob("vmlinuz-*"))
    (parts / "vmlinux").write_bytes(unpacked_kernel(kernel.read_bytes()))
    for number, (name, module) in enumerate(modules(folder / "linux-image" / "lib" / "modules")):
        (parts / "modules" / f"{number:02}-{name}.ko").write_bytes(module)


class _Apt:
    """apt-get with the system's package lists or, where these do not serve, with our own."""

    def __init__(self, folder: Path, end: float) -> None:
        """Everything is done by `end`, of the monotonic clock, or nothing is."""
        self._folder = folder
        self._end = end
        self._options: list[str] = []
        for tool in ("apt-get", "apt-cache", "dpkg-deb"):
            if shutil.which(tool) is None:
                raise NoGuestError(f"no {tool} here: its parts come from Debian's packages")

    def missing(self, name: str) -> list[str]:
        """`name` and its dependencies, as far as they are not installed."""
        if shutil.which(QEMU) is not None:
            return []
        lines = self._ask(
            "apt-get", "install", "--print-uris", "-qq", "--no-install-recommends", name
        )
        return [line.split()[1].split("_")[0] for line in lines.splitlines()]

    def dependency(self, name: str) -> str:
        """The package to which a package without files refers."""
        found = re.search(r"Depends: (linux-image-\S+)", self._ask("apt-cache", "depends", name))
        if found is None:
            raise NoGuestError(f"{name} depends on no kernel; expected a Debian system")
        return found[1]

    def download(self, names: list[str]) -> list[Path]:
        into = self._folder / "packages"
        into.mkdir()
        self._ask("apt-get", "download", *names, cwd=into)
        return sorted(into.glob("*.deb"))

    def _ask(self, tool: str, *words: str, cwd: Path | None = None) -> str:
        try:
            return _run([tool, *self._options, *words], self._end, cwd)
        except NoGuestError:
            if self._options:
                raise
        self._own_lists()
        return _run([tool, *self._options, *words], self._end, cwd)

    def _own_lists(self) -> None:
        lists = self._folder / "lists"
        (lists / "partial").mkdir(parents=True)
        self._options = [
            "-o", f"Dir::State::Lists={lists}", "-o", f"Dir::Cache={self._folder}",
            "-o", "APT::Sandbox::User=root",
        ]  # fmt: skip
        update = ["-o", "APT::Update::Error-Mode=any", "update"]
        _run(["apt-get", *self._options, *update], self._end)


def _run(command: list[str], end: float, cwd: Path | None = None) -> str:
    if command[0] == "apt-get":
        limits = ["-o", "Acquire::http::Timeout=10", "-o", "Acquire::Retries=0"]
        command = [command[0], *limits, *command[1:]]
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=max(0, end - time.monotonic()),
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise NoGuestError(
            f"{command[0]} had not ended when the time for its parts was over; offline?"
        ) from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["nothing said"]
        raise NoGuestError(f"{command[0]} failed: {said[0]}")
    return done.stdout


def unpacked_kernel(image: bytes) -> bytes:
    """The ELF file within a bzImage, where it is packed by xz; else the image as it is.

    Source: Linux's Documentation/arch/x86/boot.rst (setup_sects, payload_offset, payload_length).
    """
    sectors = image[0x1F1] or 4
    offset, length = struct.unpack_from("<II", image, 0x248)
    start = (sectors + 1) * 512 + offset
    if not image.startswith(_XZ, start):
        return image
    return lzma.LZMADecompressor().decompress(image[start : start + length])


def modules(folder: Path) -> list[tuple[str, bytes]]:
    """Names and contents of the modules to load, each after those that it depends on."""
    files = {path.name.split(".")[0].replace("-", "_"): path for path in folder.rglob("*.ko*")}
    found: dict[str, bytes] = {}

    def add(name: str) -> None:
        if name in found or name not in files:  # a missing one is built in
            return
        path = files[name]
        content = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        needs = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in needs[1].decode().split(",") if needs else ():
            add(other.replace("-", "_"))
        found[name] = content

    for name in _MODULES:
        add(name)
    return list(found.items())
