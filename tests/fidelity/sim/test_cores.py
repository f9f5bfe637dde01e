"""Which of its libraries the core is on this processor changes nothing that is counted."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

DIGEST = Path(__file__).parents[3] / "scripts" / "tools" / "replay_digest.py"
WITHOUT = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX512F"}
"""glibc then takes the processor for one that has no AVX-512."""


def digests(environment: dict[str, str]) -> tuple[str, str]:
    """Digests of a process of its own: target of its compiled core, and counts of each replay."""
    paths = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, DIGEST],
        env=os.environ | environment | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stderr.strip(), done.stdout


def test_all_cores_count_the_same() -> None:
    (best, counted), (plain, counted_plainly) = digests({}), digests(WITHOUT)
    assert len(counted.splitlines()) == 96
    assert counted == counted_plainly
    if best == plain:
        pytest.skip(f"this host can only load the core for {best} processors")
    assert (best, plain) == ("x86-64-v4", "any")
