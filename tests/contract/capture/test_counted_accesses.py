"""scripts/tools/footprints.py counts what a capture records, without recording it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autofinity.capture.build import Compilers, build_program
from autofinity.capture.run import CaptureRequest, capture
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

TOOL = Path(__file__).resolve().parents[3] / "scripts" / "tools" / "footprints.py"
SUITE = shipped("training", "suite.toml")


def counted(program: str, threads: int) -> list[float]:
    """Accesses in millions, a thread's and all threads' MiB, of size tiny."""
    words = ["--size", "tiny", "--program", program, "--threads", str(threads)]
    done = subprocess.run(
        [sys.executable, TOOL, *words, "--suite", SUITE], capture_output=True, text=True, check=True
    )
    row = next(line for line in done.stdout.splitlines() if line.startswith(f"| {program} |"))
    return [float(cell) for cell in row.split("|")[2:5]]


@pytest.mark.parametrize(("program", "accesses"), [("stencil", 0.2), ("cg", 0.4), ("scan", 0.5)])
def test_accesses_in_the_region_are_those_of_a_capture(
    program: str, accesses: float, tmp_path: Path
) -> None:
    suite = load_suite(SUITE)
    spec = suite.programs[program]
    built = build_program(suite, spec, Compilers.find({}), tmp_path / "builds")
    meta = capture(CaptureRequest(suite, spec, built, 2, "tiny", tmp_path / "traces"))
    recorded = meta.roi_accesses
    assert recorded / 1e6 == pytest.approx(accesses, abs=0.06)
    assert counted(program, 2)[0] == pytest.approx(recorded / 1e6, abs=0.051)


def test_lines_are_those_of_the_arrays_that_the_region_goes_through() -> None:
    """stencil 24 4 with two threads: two arrays of 26 planes of 26 rows of 14 pairs, of which each
    thread sweeps half.
    """
    _, thread_mib, all_mib = counted("stencil", 2)
    arrays_mib = 2 * 26 * 26 * 14 * 16 / 2**20
    assert all_mib == pytest.approx(arrays_mib, abs=0.06)
    assert thread_mib == pytest.approx(arrays_mib / 2, abs=0.04)
