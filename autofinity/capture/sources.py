"""Digest of the files that a build reads: when it changes, the program is built again.

    sources = ["src", "*.h"] in the manifest        only these files
    {dir}/NAME in every build line                  the named files
    {dir} by itself, or no {dir} at all             all files beside the manifest

Files that a build or a command of ours wrote there are never included.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from autofinity.capture.own_folder import is_own
from autofinity.model.errors import SuiteError
from autofinity.trace.manifest import ProgramSpec

_NAMED = re.compile(r"\{dir\}(?:/([^/\s\"';&|)]+))?")


def digest_of_sources(folder: Path, spec: ProgramSpec, written: Iterable[str] = ()) -> str:
    """Digest of names and contents of the files that the program's build may read.

    `written`: names beside the manifest that the build itself is known to write.
    """
    leave_out = frozenset(written)
    state = hashlib.sha256()
    for path in sorted(set(_sources(folder, spec)), key=os.fsencode):
        name = os.path.relpath(path, folder)
        if name in leave_out:
            continue
        state.update(os.fsencode(name) + b"\0")
        try:
            with path.open("rb") as file:
                state.update(hashlib.file_digest(file, "sha256").digest())
        except OSError as error:  # removed, or not permitted: the build cannot read it either
            state.update(str(error.errno).encode())
    return state.hexdigest()


def changed_since(folder: Path, before: dict[str, tuple[int, int]]) -> list[str]:
    """Files beside the manifest that are new, or differ from `before`."""
    return sorted(name for name, state in states(folder).items() if before.get(name) != state)


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """Time of the last change (nanoseconds) and inode of each file beside the manifest."""
    found = {}
    for path in _below(folder, folder):
        try:
            state = path.stat()
        except OSError:
            continue
        found[os.path.relpath(path, folder)] = (state.st_mtime_ns, state.st_ino)
    return found


def _sources(folder: Path, spec: ProgramSpec) -> Iterator[Path]:
    if spec.sources:
        for pattern in spec.sources:
            roots = sorted(folder.glob(pattern))
            if not roots:
                raise SuiteError(
                    f"program {spec.name}: no file beside its manifest matches its source "
                    f"{pattern!r}; expected files, folders or patterns below {folder}"
                )
            for root in roots:
                yield from _below(root, folder)
        return
    named = [set(_NAMED.findall(line)) for line in spec.build]
    names = set[str]().union(*named)
    if not names or "" in names:
        yield from _below(folder, folder)
        return
    for name in sorted(names):
        yield from _below(folder / name, folder)


def _below(root: Path, folder: Path) -> Iterator[Path]:
    """Files in the folder, except hidden ones and those in folders that a program made."""
    if root.is_file():
        yield root
        return
    for at, folders, files in os.walk(root):
        here = Path(at)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not is_own(here / name)
        )
        for name in files:
            path = here / name
            if not name.startswith(".") and path.is_file():
                yield path
