#!/usr/bin/env python3
"""Nanoseconds per decision of a policy exported as C header.

usage: scripts/bench/header.py POLICY.json [--samples N]

Exports the policy, builds examples/embed/bench.c with it (-O2) and asks about samples that are
spread evenly over the policy's bins, in random order (so branches are hard to predict).
"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from autofinity.policy.export import exported  # noqa: E402
from autofinity.policy.files import load  # noqa: E402
from autofinity.policy.nearest import edges_of  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the decision of an exported policy.")
    parser.add_argument("policy", type=Path)
    parser.add_argument("--samples", type=int, default=4096, help="at most 4096")
    options = parser.parse_args()
    policy = load(options.policy)
    draw = random.Random(1)
    rows = []
    for _ in range(options.samples):
        row = []
        for counter in policy.counters:
            edges = edges_of(policy, counter) or [0.0, 1.0]
            span = edges[-1] - edges[0] or abs(edges[0]) or 1.0
            bounds = [edges[0] - span / 5, *edges, edges[-1] + span / 5]
            at = draw.randrange(len(bounds) - 1)
            row.append(draw.uniform(bounds[at], bounds[at + 1]))
        rows.append(struct.pack(f"{len(row) + 1}d", *row, 0.0))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "policy.h").write_text(exported(policy, "c"), encoding="utf-8")
        program = Path(folder, "bench")
        compiler = os.environ.get("CC") or shutil.which("cc") or "cc"
        source = ROOT / "examples" / "embed" / "bench.c"
        build = [compiler, "-std=c99", "-O2", "-I", folder, str(source), "-o", str(program)]
        subprocess.run(build, check=True)
        out = subprocess.run([program], input=b"".join(rows), capture_output=True, check=True)
    best = float(out.stdout.split()[0])
    print(f"{best:.2f} ns a decision ({len(policy.rules)} rules, {len(policy.counters)} counters)")


if __name__ == "__main__":
    main()
