"""Many runs and one that goes on leave nothing behind: a quick `scripts/tools/soak.py`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

type Runner = Any  # of conftest.py

ROOT = Path(__file__).parents[2]


def test_neither_processes_nor_claims_nor_descriptors_are_left(run: Runner) -> None:
    command = [sys.executable, ROOT / "scripts" / "tools" / "soak.py", "--launcher", run.launcher]
    done = subprocess.run(
        [*command, "--runs", "40", "--seconds", "3", "--change-s", "1"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    left = re.findall(r"left: (.*?) processes, (.*?) claims, (.*?) open rows", done.stdout)
    assert left == [("0", "0", "0")] * 2, done.stdout + done.stderr
