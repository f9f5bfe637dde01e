"""Runs under mechanisms, stored as they are made: one JSON line each, appended.

Written lines survive a crash; a line that a crash cut short is left out when the file is read. Each
line has a digest of the inputs of its run, so a run is used again only where nothing has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from autofinity.model.errors import StoreError
from autofinity.model.mechanism_run import MechanismRun, Ran
from autofinity.new_folder import make_missing


@dataclass(frozen=True, slots=True)
class RunName:
    """Name of a run: runs with equal names and equal digests are the same run."""

    program: str
    input: str
    threads: int
    mechanism: str
    seed: int
    made_of: str
    """Digest of trace, machine and options; and what a second of the run stands for."""


class MechanismRuns:
    """The runs in one file."""

    def __init__(self, path: Path) -> None:
        """Raises `StoreError` when the folder cannot be made."""
        self._path = path
        try:
            make_missing(path.parent)
        except OSError as error:
            raise StoreError(
                f"cannot make the folder {path.parent}: {error.strerror}; name another with --work"
            ) from error

    def read(self) -> Mapping[RunName, Ran]:
        """All runs; of several with one name the last. Raises `StoreError`."""
        try:
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(
                f"cannot read {self._path}: {error}; expected lines of JSON"
            ) from error
        found = {}
        for line in lines:
            try:
                row = json.loads(line)
                found[RunName(**row["name"])] = Ran(
                    MechanismRun(**row["run"]),
                    MechanismRun(**row["minute"]) if row["minute"] else None,
                )
            except (ValueError, KeyError, TypeError):
                continue  # cut short
        return found

    def write(self, name: RunName, ran: Ran) -> None:
        """Append a run durably, before returning. Raises `StoreError`."""
        line = json.dumps({"name": asdict(name), **asdict(ran)}) + "\n"
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(f"cannot write {self._path}: {error.strerror}") from error
