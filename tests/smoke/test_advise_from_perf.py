"""Output of this machine's perf is read, whatever version it is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autofinity.measured.formats import read_measured
from autofinity.sim.events import EVENTS

PERF = shutil.which("perf")
EVENTS_ASKED = "task-clock,page-faults,cycles:u"
PROGRAM = ("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")


def counted(tmp_path: Path, *words: str) -> Path:
    """Output of `perf stat` for a short program."""
    path = tmp_path / "stat"
    if PERF is None:
        pytest.skip("there is no perf here")
    command = [PERF, "stat", *words, "-e", EVENTS_ASKED, "-o", str(path), "--", *PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode or not path.exists():
        why = (done.stderr.strip().splitlines() or ["no word of why"])[0]
        pytest.skip(f"perf stat {' '.join(words)} does not count here: {why}")
    return path


@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("-j",), "perf stat -j"),
        (("-j", "-I", "20"), "perf stat -j"),
        (("-j", "-r", "2"), "perf stat -j"),
        (("-x,",), "perf stat -x"),
        (("-x;", "-I", "20"), "perf stat -x"),
        (("-x", "\t"), "perf stat -x"),
        (("-x,", "-r", "2"), "perf stat -x"),
    ],
)
def test_counts_of_perf_here_are_read(tmp_path: Path, words: tuple[str, ...], form: str) -> None:
    path = counted(tmp_path, *words)
    found = read_measured(path, EVENTS)
    assert found.format == form
    told = {name.removesuffix(":u") for name in (*found.counts, *found.failed)}
    assert told >= {"task-clock", "page-faults", "cycles"}, path.read_text()
    faults = next(count for name, count in found.counts.items() if "page-faults" in name)
    assert faults.value > 0
    assert 0 < faults.seconds < 600


@pytest.mark.parametrize("words", [("-j", "-a", "-A"), ("-x,", "-a", "--per-node")])
def test_counts_of_cpus_and_nodes_of_perf_here_are_read(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    found = read_measured(counted(tmp_path, *words), EVENTS)
    assert any("page-faults" in name for name in found.counts)
    assert found.threads == 0


@pytest.mark.parametrize("form", ["-j", "-x,"])
def test_threads_of_a_running_process_are_counted_by_perf_here(tmp_path: Path, form: str) -> None:
    if PERF is None:
        pytest.skip("there is no perf here")
    path = tmp_path / "stat"
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as busy:
        words = [form, "-o", path, "-e", "task-clock", "--per-thread", "-p", str(busy.pid)]
        command = [PERF, "stat", *words, "--", "sleep", "0.3"]
        done = subprocess.run(command, capture_output=True, text=True)
        busy.kill()
    if done.returncode:
        pytest.skip(f"perf stat --per-thread does not count here: {done.stderr.strip()}")
    found = read_measured(path, EVENTS)
    assert found.threads == 1, path.read_text()


def test_advice_says_which_counts_it_needs_and_how_to_have_them(tmp_path: Path) -> None:
    path = counted(tmp_path, "-j")
    command = [sys.executable, "-m", "autofinity", "advise", "--from", path, "-t", "4", "--json"]
    done = subprocess.run([*command, "-m", "xeon-8480"], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["placement"]["hint"] is None
    assert found["given"]["measure"].startswith("perf stat -j -o FILE -e ")
    assert "cache-references:u" in found["given"]["measure"]
    piped = subprocess.run(
        [*command[:5], "-", *command[6:], "-m", "xeon-8480"],
        input=path.read_text(),
        capture_output=True,
        text=True,
        check=True,
    )
    again = json.loads(piped.stdout)
    assert again["given"]["values"] == found["given"]["values"]
    assert again["program"] == "standard input"
