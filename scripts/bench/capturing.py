"""Cost of capture, of compiled programs and of binaries: the figures of capture_cost.py."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

from parts import ROOT, Part, Settings

QUICK = ("lu", "pricer", "pic", "stencil")


def run(settings: Settings) -> Part:
    compiled = _measured(settings, "")
    values: dict[str, float | None] = {
        "capture_slowdown": compiled["capture_slowdown"],
        "trace_bytes_per_access": compiled["trace_bytes_per_access"],
        "capture_binary_slowdown": None,
    }
    share = f"over {', '.join(QUICK)}" if settings.quick else "over the training suite"
    lines = [
        f"compiled: {compiled['capture_slowdown']:.1f} times the CPU time, "
        f"{compiled['trace_bytes_per_access']:.3f} bytes an access, {share}"
    ]
    if shutil.which("qemu-x86_64") is None:
        lines.append("binaries left out: no qemu-x86_64 in PATH (Debian: apt install qemu-user)")
    else:
        binary = _measured(settings, "-binary")
        values["capture_binary_slowdown"] = binary["capture_slowdown"]
        lines.append(f"binaries under QEMU: {binary['capture_slowdown']:.1f} times, {share}")
    return Part(values, lines)


def _measured(settings: Settings, kind: str) -> dict[str, float]:
    command = [sys.executable, str(ROOT / "scripts" / "bench" / "capture_cost.py")]
    command += ["--binary"] if kind else []
    if settings.quick:
        command += ["--rounds", "1", *(word for name in QUICK for word in ("-p", name))]
    subprocess.run(command, check=True, stdout=sys.stderr)
    document = ROOT / "build" / f"bench-capture{kind}.json"
    found: dict[str, float] = json.loads(document.read_text(encoding="utf-8"))
    return found
