"""Tools for comparisons that are not installed, from Debian's packages: unpacked below the build
folder once, with their dependencies, and run from there. Nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

FOLDER = Path("build") / "peers"
PACKAGES = {
    "numactl": "numactl",
    "hwloc-bind": "hwloc-nox",
    "perf": "linux-perf",
    "likwid-pin": "likwid",
}
"""Debian package of each tool, without the tools that every system has."""
_APT_S = 120


class NoToolError(Exception):
    """The reason why a tool is not available here."""


@dataclass(frozen=True)
class Tool:
    """Command and environment that start a tool."""

    words: list[str]
    environment: dict[str, str]


def tool(name: str) -> Tool:
    """The installed tool, else the one fetched now or earlier. Raises `NoToolError`."""
    if shutil.which(name):
        return Tool([name], dict(os.environ))
    if name not in PACKAGES:
        raise NoToolError("not installed")
    root = FOLDER.resolve() / PACKAGES[name]
    if not root.exists():
        root.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=root.parent) as folder:
            _fetch(PACKAGES[name], Path(folder))
            Path(folder, "root").rename(root)
    return _within(root, name)


def _fetch(package: str, folder: Path) -> None:
    uris = _run(["apt-get", "install", "--print-uris", "-qq", "--no-install-recommends", package])
    names = [line.split()[1].split("_")[0] for line in uris.splitlines()]
    _run(["apt-get", "download", *names], folder)
    for file in folder.glob("*.deb"):
        _run(["dpkg-deb", "-x", str(file), str(folder / "root")])


def _within(root: Path, name: str) -> Tool:
    """A tool that finds its libraries, its interpreter and the interpreter's modules below `root`
    first, as if it were installed.
    """
    libraries = [*root.glob("usr/lib/*-linux-gnu"), *root.glob("lib/*-linux-gnu")]
    path = f"{root}/usr/bin:{os.environ.get('PATH', os.defpath)}"
    found = shutil.which(name, path=path)
    if found is None:
        raise NoToolError(f"its package has no {name}")
    environment = os.environ | {
        "PATH": path,
        "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
        "LUA_PATH": f"{root}/usr/share/lua/?.lua;;",
        "LUA_CPATH": "".join(f"{library}/?.so;" for library in libraries) + ";",
    }
    with Path(found).open("rb") as file:
        first = file.readline(256)
    if not first.startswith(b"#!"):
        return Tool([found], environment)
    interpreter = shutil.which(Path(os.fsdecode(first[2:].split()[0])).name, path=path)
    if interpreter is None:
        raise NoToolError(f"nothing runs it: expected what {os.fsdecode(first.strip())} names")
    return Tool([interpreter, found], environment)


def _run(command: list[str], cwd: Path | None = None) -> str:
    try:
        done = subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, timeout=_APT_S, check=True
        )
    except FileNotFoundError as error:
        raise NoToolError(f"not installed, and no {command[0]} here to fetch it") from error
    except subprocess.TimeoutExpired as error:
        raise NoToolError(f"{command[0]} did not end within {_APT_S} s; offline?") from error
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout).strip().splitlines()[-1:] or ["nothing said"]
        raise NoToolError(f"not installed, and {command[0]} failed: {said[0]}") from error
    return done.stdout
