#!/usr/bin/env python3
"""Micro-operations per instruction and instructions per clock, by LLVM's models of processors.

    python scripts/tools/uops.py [--mca llvm-mca-19] [--into docs/machines.md]

The C and C++ programs of the training suite are compiled (`-O2`), and `llvm-mca` counts the
micro-operations of their instructions, each once. Models with fused operations (Sapphire Rapids)
count fewer than those without (Sandy Bridge). Clocks are of one pass through the code from top to
bottom, in which instructions wait for each other's results and all data are in the L1: no miss and
no wrong branch delays the pass, but no loops overlap either. Needs `llvm-mca`, and for the Neoverse
N1 `aarch64-linux-gnu-gcc` and `-g++`; a model whose compiler is not there is left out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from autofinity.report.marked import put_between_marks

HERE = Path(__file__).resolve().parents[2]
MODELS = {
    "sandybridge": "x86_64-linux-gnu",
    "bdver2": "x86_64-linux-gnu",
    "znver4": "x86_64-linux-gnu",
    "sapphirerapids": "x86_64-linux-gnu",
    "neoverse-n1": "aarch64-linux-gnu",
}
"""Processor, as LLVM calls it → its compiler's prefix. Nehalem has Sandy Bridge's model."""
COMPILERS = {".c": ("gcc",), ".cpp": ("g++", "-std=c++17")}
COUNTED = ("Instructions", "Total uOps", "Total Cycles")
"""Lines of the summary of `llvm-mca`."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--mca", default="llvm-mca", help="the command")
    words.add_argument("--into", type=Path, help="a document with marks for the table")
    asked = words.parse_args()
    lines = [
        "| model | programs | µops an instruction | fewest | most "
        "| instructions a clock | fewest | most |",
        "|---|---|---|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for model, target in MODELS.items():
            if shutil.which(f"{target}-gcc") is None:
                print(f"{model}: no {target}-gcc", file=sys.stderr)
                continue
            codes = compiled(target, Path(folder))
            lines.append(row(model, [counted(asked.mca, model, target, code) for code in codes]))
    print("\n".join(lines))
    if asked.into is not None:
        put_between_marks(asked.into, "scripts/tools/uops.py", "\n".join(lines))


def compiled(target: str, folder: Path) -> list[Path]:
    """Assembly of every C and C++ file of the suite."""
    codes = []
    for source in sorted((HERE / "training").glob("*/*.c*")):
        if source.parent.name == "include":
            continue
        compiler, *options = COMPILERS[source.suffix]
        code = folder / f"{source.stem}-{target}.s"
        if not code.exists():
            words = [f"{target}-{compiler}", *options, "-O2", "-S", "-fno-exceptions"]
            words += [f"-I{HERE / 'training' / 'include'}", "-o", str(code), str(source)]
            subprocess.run(words, check=True)
        codes.append(code)
    return codes


class Counts(NamedTuple):
    """Counts for the assembly of a program, as far as the model knows its instructions."""

    instructions: int
    operations: int
    clocks: int

    @property
    def operations_an_instruction(self) -> float:
        return self.operations / self.instructions

    @property
    def instructions_a_clock(self) -> float:
        return self.instructions / self.clocks


def counted(mca: str, model: str, target: str, code: Path) -> Counts:
    words = [mca, f"-mtriple={target}", f"-mcpu={model}", "-iterations=1"]
    words += ["-skip-unsupported-instructions=any", "-instruction-info=false", str(code)]
    said = subprocess.run(words, capture_output=True, text=True)
    found = [re.search(rf"^{name}: +(\d+)", said.stdout, re.M) for name in COUNTED]
    numbers = [int(each[1]) for each in found if each is not None]
    if len(numbers) < len(COUNTED):
        sys.exit(f"{mca} {code.name}: no summary: {said.stderr.strip()[-200:]}")
    return Counts(*numbers)


def row(model: str, programs: list[Counts]) -> str:
    whole = Counts(*map(sum, zip(*programs, strict=True)))
    operations = [each.operations_an_instruction for each in programs]
    rates = [each.instructions_a_clock for each in programs]
    numbers = (whole.operations_an_instruction, min(operations), max(operations))
    numbers += (whole.instructions_a_clock, min(rates), max(rates))
    return f"| {model} | {len(programs)} | {' | '.join(f'{number:.2f}' for number in numbers)} |"


if __name__ == "__main__":
    main()
