"""Small costs that a user pays at each start: a decision, a placement, a launch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from parts import ROOT, Part, Settings

HERE = Path(__file__).parent
POLICY = ROOT / "policies" / "opteron-6164he.json"


def run(settings: Settings) -> Part:
    """Run the scripts; their output is the result. See the scripts for single figures."""
    commands = {
        "decision of the exported policy": ["header.py", str(POLICY)],
        "GETAFFINITY, microseconds": ["getaffinity.py"],
        "start-up of run": ["startup.py", "--rounds", "10" if settings.quick else "50"],
    }
    lines = []
    for title, (script, *arguments) in commands.items():
        command = [sys.executable, str(HERE / script), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines.append(f"{title}:")
        shown = done.stdout if done.returncode == 0 else f"failed: {done.stderr[-300:]}"
        lines += [f"  {line}" for line in shown.splitlines()]
    return Part({}, lines)
