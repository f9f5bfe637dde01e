"""The script that makes the shipped observations, on workers of a Dask scheduler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from dask_here import ENOUGH_S, cluster

ROOT = Path(__file__).resolve().parents[2]
MACHINE = "i9-13900k"
PROGRAMS = ("keysearch", "pic")


def made(folder: Path, traces: Path, code: int = 0, **env: str) -> str:
    """Run the script with a work folder of its own; the file of the machine goes below `folder`.

    Returns what it wrote to standard error. Raises AssertionError unless it ends with `code`.
    """
    (folder / "work").mkdir(parents=True)
    (folder / "work/traces").symlink_to(traces)
    command = [ROOT / "scripts/observations", "-s", "tiny", "-w", folder / "work", "-o", folder]
    command += [word for program in PROGRAMS for word in ("-p", program)]
    done = subprocess.run(
        [*command, sys.prefix, MACHINE],
        env={**os.environ, "COLOURS": "1", **env},
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def test_workers_make_the_file_of_a_machine_that_this_machine_makes_to_the_bit(
    tmp_path: Path,
) -> None:
    file = Path("observations", f"{MACHINE}.parquet")
    shipped = (ROOT / "data" / file).read_bytes()
    traces = tmp_path / "traces"
    traces.mkdir()
    with cluster(tmp_path / "cluster", 2) as two:
        made(tmp_path / "there", traces, ON=two.place)
    made(tmp_path / "here", traces)
    there = (tmp_path / "there" / file).read_bytes()
    assert there == (tmp_path / "here" / file).read_bytes()
    assert there != shipped == (ROOT / "data" / file).read_bytes()
    assert two.place.partition("//")[2] in made(tmp_path / "gone", traces, 1, ON=two.place)
