"""Compiles a small program with -fsanitize=thread, runs it under capture, reads the trace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autofinity.capture.build import GCC_FLAGS, runtime_folder

from .abstract_replay import NAMES, replay

UNDER = os.environ.get("AUTOFINITY_TEST_UNDER", "").split()
"""A command that runs the captured programs and ends with FOUND where it finds errors in them:
scripts/check-native takes valgrind's memcheck."""
FOUND = 99
REFUSING = (
    sys.executable,
    str(Path(__file__).parent.parent / "support" / "refusing_personality.py"),
)
"""Before a command: it may not undo address randomisation."""
CAN_REFUSE = subprocess.run([*REFUSING, "true"], check=False).returncode == 0
can_refuse = pytest.mark.skipif(
    not CAN_REFUSE, reason="this kernel lets nobody refuse personality(2)"
)
COMPILERS = {"c": "gcc", "cpp": "g++", "f90": "gfortran"}


def compiler(kind: str) -> str | None:
    return shutil.which(COMPILERS[kind])


@dataclass(frozen=True)
class Captured:
    """A finished run: what it printed, and its trace."""

    code: int
    stdout: str
    stderr: str
    folder: Path

    @property
    def trace(self) -> Any:
        from autofinity._core import trace

        return trace.read(str(self.folder))

    def kinds(self, stream: int) -> Counter[str]:
        return Counter(NAMES[k] for k in self.trace.events(stream)["kind"].tolist())

    def events(self, stream: int, *kinds: str) -> list[tuple[str, int, int]]:
        """(kind, value, aux) of the events of these kinds, in order."""
        numbers = [NAMES.index(kind) for kind in kinds]
        events = self.trace.events(stream)
        chosen = events[np.isin(events["kind"], numbers)]
        return [(NAMES[e["kind"]], int(e["value"]), int(e["aux"])) for e in chosen]

    def counts(self, stream: int, address: int, size: int) -> tuple[int, int]:
        """Loads and stores that the stream made in [address, address + size), whole lines."""
        events = self.trace.events(stream)
        lines = events["value"]
        chosen = events[
            (events["kind"] == 0) & (lines >= address >> 6) & (lines <= (address + size - 1) >> 6)
        ]
        return int(chosen["reads"].sum()), int(chosen["writes"].sum())

    def address(self, name: str) -> int:
        """The program printed `name 0x…`."""
        return int(self.stdout.split(f"{name} ")[1].split()[0], 16)


class Workshop:
    """Compiles each source once, runs it as often as asked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs = 0

    def _library(self) -> Path:
        """A folder where the compiler finds our runtime in place of its own."""
        found = self._folder / "libtsan.so"
        if not found.exists():
            found.symlink_to(runtime_folder() / "libtsan.so.2")
        return self._folder

    def run(
        self,
        source: str,
        *arguments: str,
        kind: str = "c",
        flags: str = "-O1 -pthread",
        env: dict[str, str] | None = None,
        replays: int = 3,
        under: Sequence[str] = (),
    ) -> Captured:
        """Compile, run (by the command `under`) under capture, check that the trace replays under
        random schedules.
        """
        name = self._folder / f"p{abs(hash((source, flags)))}"
        path = name.with_suffix("." + kind)
        if not name.exists():
            path.write_text(source)
            subprocess.run(
                [
                    *(compiler(kind) or kind, *flags.split(), *GCC_FLAGS, "-w", path),
                    *("-o", name, f"-L{self._library()}"),
                ],
                check=True,
            )
        self._runs += 1
        folder = self._folder / f"trace{self._runs}"
        folder.mkdir()
        done = subprocess.run(
            [*UNDER, *under, str(name), *arguments],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("OMP_")},
                "LD_LIBRARY_PATH": ":".join(
                    [str(runtime_folder()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
                ),
                "AUTOFINITY_CAPTURE_DIR": str(folder),
                "AUTOFINITY_CAPTURE_ADDRESSES": "own",  # those that the program prints
                "OMP_WAIT_POLICY": "passive",
                "OMP_DYNAMIC": "false",
                **(env or {}),
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not UNDER or done.returncode != FOUND, done.stderr
        captured = Captured(done.returncode, done.stdout, done.stderr, folder)
        if (folder / "index.aft").exists():
            for seed in range(replays):
                replay(captured.trace, seed)
        return captured
