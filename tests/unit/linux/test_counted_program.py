"""A program that is counted as a whole: what it starts is in it, and what it says is its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from autofinity.linux.counted_program import run_counted
from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf_event import open_event

PAGE_FAULTS = Encoding(1, 2)
NOBODY_HAS = Encoding(4, 0xFFFFFFFFFFFF)


def python(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]


def test_it_ends_as_it_would_with_no_input_and_the_environment_given(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import os, sys; print(os.environ['WORD'], repr(sys.stdin.read())); sys.exit(37)"
    done = run_counted(python(code), {**os.environ, "WORD": "hello"}, {})
    assert done.exit_code == 37
    assert 0 < done.elapsed_s < 100
    assert done.counts == {}
    assert capfd.readouterr().out == "hello ''\n"
    done = run_counted(python("print('out')"), os.environ, {}, to_stderr=True)
    assert capfd.readouterr() == ("", "out\n")
    killed = run_counted(python("import os; os.kill(os.getpid(), 9)"), os.environ, {})
    assert killed.exit_code == 128 + 9
    assert run_counted([str(tmp_path / "nowhere")], os.environ, {}).exit_code == 127


def test_its_children_count_and_what_nobody_counts_is_left_out() -> None:
    try:
        os.close(open_event(PAGE_FAULTS, 0, disabled=True))
    except OSError as error:
        pytest.skip(f"page faults cannot be counted here: {error.strerror}")
    touch = "b = bytearray(64 << 20); b[::4096] = b'x' * len(b[::4096])"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-I', '-c', {touch!r}])"
    wanted = {"faults": PAGE_FAULTS, "nothing": NOBODY_HAS}
    done = run_counted(python(child), os.environ, wanted)
    assert set(done.counts) == {"faults"}
    few = run_counted(python("pass"), os.environ, wanted).counts["faults"]
    # Pages may be huge: then faults of a child's own start are the evidence.
    assert done.counts["faults"] > few + 100
    twice = {"both": Encoding(1, 2, also=(PAGE_FAULTS,))}
    both = run_counted(python("pass"), os.environ, twice).counts["both"]
    assert 1.5 * few < both < 2.5 * few
