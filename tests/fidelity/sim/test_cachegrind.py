"""A captured program misses the L1 and the last level as often as cachegrind says it does.

Cachegrind (Nethercote, 2004) simulates an L1 and a last level for a binary that knows nothing of
us; here the same source is also compiled for capture. Start-up is no part of either: misses are
those of five passes less those of one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hand_machine import INCLUSIVE
from sim_programs import cpus
from single_core import with_caches

from autofinity._core import trace as traces
from autofinity.capture.build import runtime_folder
from autofinity.capture.ways import GCC_FLAGS
from autofinity.sim.replay import simulate

SOURCE = Path(__file__).with_name("two_solvers.c")
FIRST, LAST = (16, 4), (64, 16)
"""Sets and ways: 4 and 64 KiB, of one page's lines, so that frames do not matter."""


def shape(sets_and_ways: tuple[int, int]) -> str:
    sets, ways = sets_and_ways
    return f"{sets * ways * 64},{ways},64"


def built(folder: Path, *flags: str) -> Path:
    binary = folder / f"solvers{len(flags)}"
    subprocess.run(["gcc", "-O1", *flags, "-o", binary, SOURCE], check=True)
    return binary


def cachegrind_misses(binary: Path, passes: int) -> tuple[int, int]:
    """Data misses of the L1 and of the last level."""
    done = subprocess.run(
        [
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=yes",
            f"--D1={shape(FIRST)}",
            f"--LL={shape(LAST)}",
            "--cachegrind-out-file=/dev/null",
            binary,
            str(passes),
        ],
        check=True,
        capture_output=True,
        text=True,
    )

    def total(label: str) -> int:
        found = re.search(rf"{label} +misses: +([\d,]+)", done.stderr)
        assert found is not None, done.stderr
        return int(found[1].replace(",", ""))

    return total("D1"), total("LLd")


def simulated_misses(binary: Path, passes: int, folder: Path) -> tuple[int, int]:
    """The same of a capture on a machine with these two levels, and a large one after them."""
    folder.mkdir()
    subprocess.run(
        [binary, str(passes)],
        check=True,
        capture_output=True,
        env={
            **os.environ,
            "LD_LIBRARY_PATH": str(runtime_folder()),
            "AUTOFINITY_CAPTURE_DIR": str(folder),
        },
    )
    machine = with_caches(INCLUSIVE, FIRST, LAST, (64, 128))
    result = simulate(machine, traces.read(str(folder)), cpus(0))
    return result.total("data_cache_misses"), result.total("l2_misses")


def test_a_captured_program_misses_as_often_as_in_cachegrind(tmp_path: Path) -> None:
    for tool in ("valgrind", "gcc"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    plain, instrumented = built(tmp_path), built(tmp_path, *GCC_FLAGS)
    theirs, ours = (
        [b - a for a, b in zip(*runs, strict=True)]
        for runs in (
            [cachegrind_misses(plain, passes) for passes in (1, 5)],
            [simulated_misses(instrumented, passes, tmp_path / str(passes)) for passes in (1, 5)],
        )
    )
    # The walk misses both levels in every pass; the second stencil finds its lines in the last one.
    assert theirs[0] > 1.3 * theirs[1]
    assert theirs[1] > 4 * 1024
    assert ours == pytest.approx(theirs, rel=0.01)
