"""tests/numa on a real NUMA kernel: four sockets of four cores, under QEMU."""

from __future__ import annotations

import fcntl
import os
import platform
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUEST = (sys.executable, ROOT / "scripts" / "numa-guest")
NO_GUEST = 77
LIMIT_S = 240


def test_threads_and_pages_are_where_they_should_be_on_a_kernel_with_four_nodes(
    tmp_path: Path,
) -> None:
    # One program that is watched while it runs is what there is time for: `make test-numa` has
    # the others, and ranks of mpiexec.
    others = [f"--ignore=tests/numa/test_{name}.py" for name in ("run", "advise", "mpirun")]
    options = ("--limit-s", str(LIMIT_S), *others, "--out", tmp_path)
    done = subprocess.run([*GUEST, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == NO_GUEST:
        pytest.skip(said.splitlines()[-1])
    assert done.returncode == 0, said
    skipped = ET.parse(tmp_path / "report.xml").findall(".//skipped")
    if skipped:
        reasons = "; ".join(each.get("message", "") for each in skipped)
        pytest.skip(f"all others passed, {len(skipped)} skipped there: {reasons}")


def no_guest(folder: Path, path: str) -> str:
    """Why there is none, when its parts must be fetched within a second."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "PATH": path}
    command = [*GUEST, "--limit-s", "1", "--out", folder / "out"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == NO_GUEST
    return done.stderr.splitlines()[-1]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the guest is an x86-64 machine")
def test_packages_that_take_too_long_end_as_no_guest_with_the_reason(tmp_path: Path) -> None:
    for tool in ("apt-get", "apt-cache", "dpkg-deb"):
        path = tmp_path / tool
        path.write_text("#!/bin/sh\nexec sleep 600\n")
        path.chmod(0o755)
    said = no_guest(tmp_path, f"{tmp_path}:{os.environ['PATH']}")
    assert "had not ended when the time for its parts was over" in said


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the guest is an x86-64 machine")
def test_parts_that_somebody_else_fetches_are_not_waited_for_any_longer(tmp_path: Path) -> None:
    (tmp_path / "autofinity").mkdir()
    with (tmp_path / "autofinity" / "numa-guest.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        said = no_guest(tmp_path, os.environ["PATH"])
    assert "somebody else has been fetching its parts" in said
