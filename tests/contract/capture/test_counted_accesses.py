"""scripts/tools/footprints.py counts what a capture records, without recording it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers
from autofinity.capture.request import CaptureRequest
from autofinity.capture.run import capture
from autofinity.resources import shipped
from autofinity.trace.manifest import load_suite

TOOL = Path(__file__).resolve().parents[3] / "scripts" / "tools" / "footprints.py"
SUITE = shipped("training", "suite.toml")
THREADS = 2


@pytest.fixture(scope="module")
def footprints() -> ModuleType:
    spec = importlib.util.spec_from_file_location("footprints", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["footprints"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("program", ["stencil", "cg", "scan", "pricer", "pic", "dedup"])
def test_accesses_in_the_region_are_those_of_a_capture(
    program: str, footprints: ModuleType, tmp_path: Path
) -> None:
    """Vectors, accesses that cross lines, what mathematical functions take, atomic additions; not
    lock words.
    """
    suite = load_suite(SUITE)
    spec = suite.programs[program]
    built = build_program(suite, spec, Compilers.find({}), tmp_path / "builds")
    meta = capture(CaptureRequest(suite, spec, built, THREADS, "tiny", tmp_path / "traces"))
    counted = footprints.Counter(suite, tmp_path).footprint(spec, "tiny", THREADS)
    assert counted.accesses == pytest.approx(meta.roi_accesses, rel=0.01)


def test_lines_are_those_of_the_arrays_that_the_region_goes_through(
    footprints: ModuleType, tmp_path: Path
) -> None:
    """stencil 24 4 with two threads: two arrays of 26 planes of 26 rows of 14 pairs, of which each
    thread sweeps half.
    """
    suite = load_suite(SUITE)
    spec = suite.programs["stencil"]
    counted = footprints.Counter(suite, tmp_path).footprint(spec, "tiny", THREADS)
    arrays = 2 * 26 * 26 * 14 * 16
    assert counted.all_bytes == pytest.approx(arrays, abs=0.06 * 2**20)
    assert counted.thread_bytes == pytest.approx(arrays / 2, abs=0.04 * 2**20)
