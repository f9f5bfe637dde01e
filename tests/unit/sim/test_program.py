"""Traces made ready for replay: read stream by stream, or from one that is in memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from mixed_program import mixed_program
from sim_programs import kept, load_all, region

from autofinity._core import sim as core
from autofinity._core.trace import Trace, TraceBuilder, read
from autofinity.model.errors import TraceError
from autofinity.sim.native import machine_model
from autofinity.sim.preset import load_preset

# The peak memory of this program: `getrusage` may report that of the parent.
PEAK_KIB = """
import sys
from pathlib import Path
from autofinity._core import sim, trace
def most():
    status = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
before = most()
{program}
print(most() - before)
"""


def loads(streams: int, events: int) -> Trace:
    builder = TraceBuilder()
    lines = region(100) * (events // len(region(100)))
    for _ in range(streams):
        load_all(builder, builder.stream(), lines)
    return builder.build()


def peak_kib(program: str, folder: str) -> int:
    done = subprocess.run(
        [sys.executable, "-P", "-c", PEAK_KIB.format(program=program), folder],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(done.stdout)


def test_a_program_that_is_read_counts_what_one_of_a_trace_in_memory_counts(tmp_path: Path) -> None:
    machine = machine_model(load_preset("opteron-6164he"))
    folder = kept(mixed_program(rounds=200), tmp_path / "mixed")
    programs = core.Program.read(folder), core.Program(read(folder))
    runs = [core.Simulation(machine, program, list(range(8))) for program in programs]
    for run in runs:
        run.run()
    assert (runs[0].totals() == runs[1].totals()).all()
    assert runs[0].elapsed_ns == runs[1].elapsed_ns


@pytest.mark.skipif(
    "asan" in os.environ.get("LD_PRELOAD", ""), reason="AddressSanitizer keeps what is freed"
)
def test_reading_a_program_takes_less_memory_than_by_way_of_a_trace(tmp_path: Path) -> None:
    """Only one stream has its 24 decoded and 16 prepared bytes per event in memory at a time."""
    folder = kept(loads(streams=8, events=96_000), tmp_path / "loads")
    whole = peak_kib("program = sim.Program(trace.read(sys.argv[1]))", folder)
    by_stream = peak_kib("program = sim.Program.read(sys.argv[1])", folder)
    assert by_stream < 0.85 * whole


def test_a_program_of_no_trace_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="nothing"):
        core.Program.read(str(tmp_path / "nothing"))
