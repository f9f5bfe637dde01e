"""Programs of a suite built with the plain compilers and run by themselves.

The manifest is read with `tomllib` alone, so that a fault in the package's own reader cannot hide a
fault in the programs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

COMPILERS = {
    "cc": os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc"),
    "cxx": os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++"),
    "fc": os.environ.get("FC") or shutil.which("gfortran"),
}
THREADS = (1, 2, 3, 384)
"""Thread counts; the largest is that of two EPYC 9654 with all their hardware threads."""
STRICT = "-Wall -Wextra -Werror"


@dataclass(frozen=True)
class PlainSuite:
    """The suite in a folder."""

    folder: Path

    @cached_property
    def programs(self) -> dict[str, dict[str, Any]]:
        """Each program's table of the manifest."""
        programs: dict[str, dict[str, Any]] = tomllib.loads(
            (self.folder / "suite.toml").read_text()
        )["programs"]
        return programs

    def build(self, name: str, out: Path) -> None:
        """Build without a warning. Skips the test with the reason where a compiler is missing."""
        program = self.programs[name]
        text = " ".join(program["build"])
        for compiler, path in COMPILERS.items():
            if f"{{{compiler}}}" in text and path is None:
                pytest.skip(f"no {compiler} compiler here for a {program['language']} program")
        for line in program["build"]:
            done = subprocess.run(
                self._expand(line, out, 2), shell=True, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr

    def run(
        self, name: str, out: Path, words: Sequence[str], threads: int
    ) -> subprocess.CompletedProcess[str]:
        """Run with these words as input."""
        program = self.programs[name]
        environment = {
            key: self._expand(value, out, threads)
            for key, value in program["threads"].get("env", {}).items()
        }
        arguments: list[str] = []
        for element in program["run"]:
            given = words if element == "{input}" else [element]
            arguments += [self._expand(word, out, threads) for word in given]
        return subprocess.run(
            arguments,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    def check_answers(self, name: str, out: Path) -> None:
        """Check the answers on the tiny input, with few threads and with more than most machines
        have.
        """
        words = self.programs[name]["inputs"]["tiny"].split()
        for threads in THREADS:
            done = self.run(name, out, words, threads)
            assert done.returncode == 0, done.stdout + done.stderr
            assert re.search(self.programs[name]["expect"], done.stdout, re.MULTILINE), done.stdout

    def check_refusal(self, name: str, out: Path) -> None:
        """Check that the program ends with 2 when its arguments are missing."""
        executable = self._expand(self.programs[name]["run"][0], out, 2)
        done = subprocess.run([executable], capture_output=True, check=False)
        assert done.returncode == 2

    def _expand(self, text: str, out: Path, threads: int) -> str:
        values = {
            **{compiler: path or "" for compiler, path in COMPILERS.items()},
            **dict.fromkeys(("cflags", "cxxflags", "fflags"), STRICT),
            "ldflags": "",
            "vectors": "",
            "dir": str(self.folder),
            "out": str(out),
            "threads": str(threads),
            "jobs": "1",
        }
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", value)
        return text
