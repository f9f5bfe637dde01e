"""Compile small programs for capture, run them, read their traces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from abstract_replay import NAMES, replay

from autofinity._core import trace as core
from autofinity.capture.build import expand, runtime_folder
from autofinity.capture.ways import ASSEMBLY_FLAGS, GCC_FLAGS, Counted, write_tools

UNDER = os.environ.get("AUTOFINITY_TEST_UNDER", "").split()
"""A command that runs the captured programs and ends with FOUND where it finds errors in them:
scripts/check-native uses valgrind's memcheck."""
FOUND = 99
REFUSING = (
    sys.executable,
    str(Path(__file__).with_name("refusing_personality.py")),
)
"""Prefix of a command that must not switch address randomisation off."""
CAN_REFUSE = subprocess.run([*REFUSING, "true"], check=False).returncode == 0
can_refuse = pytest.mark.skipif(
    not CAN_REFUSE, reason="this kernel lets nobody refuse personality(2)"
)
COMPILERS = {"c": "gcc", "cpp": "g++", "f90": "gfortran"}


def compiler(kind: str) -> str | None:
    return shutil.which(COMPILERS[kind])


@dataclass(frozen=True)
class Captured:
    """A finished run: its output, and its trace."""

    code: int
    stdout: str
    stderr: str
    folder: Path

    @cached_property
    def trace(self) -> Any:
        return core.read(str(self.folder))

    @cached_property
    def summary(self) -> dict[str, Any]:
        return core.summary(str(self.folder))

    @property
    def streams(self) -> range:
        return range(self.trace.streams)

    @cached_property
    def _raw(self) -> dict[int, Any]:
        return {}

    def raw(self, stream: int) -> Any:
        """All events of the stream, as in the trace."""
        if stream not in self._raw:
            self._raw[stream] = self.trace.events(stream)
        return self._raw[stream]

    def kinds(self, stream: int) -> Counter[str]:
        return Counter(NAMES[k] for k in self.raw(stream)["kind"].tolist())

    def events(self, stream: int, *kinds: str) -> list[tuple[str, int, int]]:
        """(kind, value, aux) of the events of these kinds, in order."""
        numbers = [NAMES.index(kind) for kind in kinds]
        events = self.raw(stream)
        chosen = events[np.isin(events["kind"], numbers)]
        return [(NAMES[e["kind"]], int(e["value"]), int(e["aux"])) for e in chosen]

    def values(self, stream: int, kind: str) -> list[int]:
        """Values of the events of that kind, in order: for posts and awaits, their tokens."""
        return [value for _, value, _ in self.events(stream, kind)]

    def units(self, task: int = 0) -> list[int]:
        """Values of all units (or tasks) over all streams, sorted; each begin has its end."""
        begun, ended = (
            sorted(v for i in self.streams for _, v, aux in self.events(i, kind) if aux == task)
            for kind in ("unit_begin", "unit_end")
        )
        assert begun == ended
        return begun

    def counts(self, stream: int, address: int, size: int) -> tuple[int, int]:
        """Loads and stores of the stream in [address, address + size), whole lines."""
        events = self.raw(stream)
        lines = events["value"]
        chosen = events[
            (events["kind"] == 0) & (lines >= address >> 6) & (lines <= (address + size - 1) >> 6)
        ]
        return int(chosen["reads"].sum()), int(chosen["writes"].sum())

    def address(self, name: str) -> int:
        """The address that the program printed as `name 0x…`."""
        return int(self.stdout.split(f"{name} ")[1].split()[0], 16)


class Workshop:
    """Compile each source once, and capture each run of it once."""

    def __init__(self, folder: Path, counted: Counted = "accesses") -> None:
        self._folder = folder
        self._counted = counted
        self._flags = list(GCC_FLAGS)
        if counted == "code":
            write_tools(folder / "tools", os.environ)
            self._flags = [expand(f, {"tools": str(folder / "tools")}) for f in ASSEMBLY_FLAGS]
        self._programs: dict[tuple[str, str], Path] = {}
        self._runs: dict[Any, Captured] = {}

    def _library(self) -> Path:
        """A folder where the compiler finds our runtime in place of its own."""
        found = self._folder / "libtsan.so"
        if not found.exists():
            found.symlink_to(runtime_folder() / "libtsan.so.2")
        return self._folder

    def compile(self, source: str, kind: str = "c", flags: str = "-O1 -pthread") -> Path:
        if (source, flags) not in self._programs:
            program = self._folder / f"p{len(self._programs)}"
            path = program.with_suffix("." + kind)
            path.write_text(source)
            subprocess.run(
                [
                    *(compiler(kind) or kind, *flags.split(), *self._flags, "-w", path),
                    *("-o", program, f"-L{self._library()}", "-Wl,--no-as-needed", "-ltsan"),
                ],
                check=True,
            )
            self._programs[source, flags] = program
        return self._programs[source, flags]

    def run(
        self,
        source: str,
        *arguments: str,
        kind: str = "c",
        flags: str = "-O1 -pthread",
        env: dict[str, str] | None = None,
        under: Sequence[str] = (),
        replays: int = 3,
        again: int = 0,
    ) -> Captured:
        """The capture of the program run with these arguments, by the command `under`. Its trace is
        replayed under that many random schedules. A different `again` makes another run.
        """
        environment = env or {}
        what = source, arguments, flags, *environment.items(), *under, replays, again
        if what not in self._runs:
            program = self.compile(source, kind, flags)
            captured = self._capture([*under, str(program), *arguments], environment)
            if replays and (captured.folder / "index.aft").exists():
                replay(captured.trace, replays)
            self._runs[what] = captured
        return self._runs[what]

    def openmp(self, source: str, threads: int = 4, kind: str = "c", **more: str) -> Captured:
        """A program of OpenMP that must exit with 0; `more` are environment variables."""
        done = self.run(
            source,
            kind=kind,
            flags="-O1 -fopenmp",
            env={"OMP_NUM_THREADS": str(threads), **more},
        )
        assert done.code == 0, done.stderr
        return done

    def _capture(self, command: list[str], environment: dict[str, str]) -> Captured:
        folder = self._folder / f"trace{len(list(self._folder.glob('trace*')))}"
        folder.mkdir()
        done = subprocess.run(
            [*UNDER, *command],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith("OMP_")},
                "LD_LIBRARY_PATH": ":".join(
                    [str(runtime_folder()), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
                ),
                "AUTOFINITY_CAPTURE_DIR": str(folder),
                "AUTOFINITY_CAPTURE_ADDRESSES": "own",  # those that the program prints
                "OMP_WAIT_POLICY": "passive",
                "OMP_DYNAMIC": "false",
                **({"AUTOFINITY_CAPTURE_BLOCKS": "code"} if self._counted == "code" else {}),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert not UNDER or done.returncode != FOUND, done.stderr
        return Captured(done.returncode, done.stdout, done.stderr, folder)
