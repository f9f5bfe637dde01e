"""Compare instructions and accesses of captured programs with the machine code that users run.

    python scripts/studies/instructions.py [--threads 2] [--size tiny] [--flags=-O2] [PROGRAM…]

The reference is the same program, built with the same flags and without instrumentation, under QEMU
with our plugin, which sees every instruction and access (docs/suites.md). Both are sums over all
threads in the region of interest. `--flags` replaces the optimisation flags of the training suite.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "support"))
from beside_qemu import beside_qemu, training_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help="all, where none is named")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--flags", help="optimisation flags, such as -O2")
    chosen = parser.parse_args()
    suite = training_suite(chosen.flags)
    print("| program | instructions | of the binary | ratio | accesses | of the binary | ratio |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="autofinity-") as folder:
        for spec in suite.pick(tuple(chosen.programs)):
            found = beside_qemu(suite, spec.name, chosen.threads, chosen.size, Path(folder))
            ours, theirs = found.captured, found.machine_code
            print(
                f"| {spec.name} | {ours.instructions:,} | {theirs.instructions:,} "
                f"| {found.instructions:.3f} | {ours.accesses:,} | {theirs.accesses:,} "
                f"| {found.accesses:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
