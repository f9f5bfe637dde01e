"""tests/numa on a real NUMA kernel: four sockets of four cores, under QEMU."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NO_GUEST = 77
LIMIT_S = 240


@pytest.mark.slow
def test_threads_and_pages_are_where_they_should_be_on_a_kernel_with_four_nodes(
    tmp_path: Path,
) -> None:
    command = [sys.executable, ROOT / "scripts" / "numa-guest", "--limit-s", str(LIMIT_S)]
    # One program that is watched while it runs is what there is time for: `make test-numa`.
    command.append("--ignore=tests/numa/test_run.py")
    done = subprocess.run(
        [*command, "--out", tmp_path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said = done.stdout.decode(errors="replace").strip()
    if done.returncode == NO_GUEST:
        pytest.skip(said.splitlines()[-1])
    assert done.returncode == 0, said
    skipped = ET.parse(tmp_path / "report.xml").findall(".//skipped")
    if skipped:
        reasons = "; ".join(each.get("message", "") for each in skipped)
        pytest.skip(f"all others passed, {len(skipped)} skipped there: {reasons}")
