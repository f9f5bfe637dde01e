#!/usr/bin/env python3
"""How many micro-operations an instruction is, by LLVM's models of processors.

    python scripts/uops.py [--mca llvm-mca-19] [--into docs/machines.md]

The C and C++ programs of the training suite are compiled (`-O2`), and `llvm-mca` counts the
micro-operations of their instructions, each once. Models that write of fused operations (Sapphire
Rapids) tell fewer than those that do not (Sandy Bridge). Needs `llvm-mca`, and for the Neoverse N1
`aarch64-linux-gnu-gcc` and `-g++`; a model whose compiler is not there is left out.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from autofinity.report.marked import put_between_marks

HERE = Path(__file__).resolve().parents[1]
MODELS = {
    "sandybridge": "x86_64-linux-gnu",
    "bdver2": "x86_64-linux-gnu",
    "znver4": "x86_64-linux-gnu",
    "sapphirerapids": "x86_64-linux-gnu",
    "neoverse-n1": "aarch64-linux-gnu",
}
"""Processor, as LLVM calls it → its compiler's prefix. Nehalem has Sandy Bridge's model."""
COMPILERS = {".c": ("gcc",), ".cpp": ("g++", "-std=c++17")}
COUNTED = ("Instructions", "Total uOps")
"""Lines of the summary of `llvm-mca`."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--mca", default="llvm-mca", help="the command")
    words.add_argument("--into", type=Path, help="a document with marks for the table")
    asked = words.parse_args()
    lines = ["| model | programs | all | fewest | most |", "|---|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as folder:
        for model, target in MODELS.items():
            if shutil.which(f"{target}-gcc") is None:
                print(f"{model}: no {target}-gcc", file=sys.stderr)
                continue
            codes = compiled(target, Path(folder))
            lines.append(row(model, [counted(asked.mca, model, target, code) for code in codes]))
    print("\n".join(lines))
    if asked.into is not None:
        put_between_marks(asked.into, "scripts/uops.py", "\n".join(lines))


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


def counted(mca: str, model: str, target: str, code: Path) -> tuple[int, int]:
    """Instructions of the assembly, and their micro-operations, as far as it can model them."""
    words = [mca, f"-mtriple={target}", f"-mcpu={model}", "-iterations=1"]
    words += ["-skip-unsupported-instructions=any", "-instruction-info=false", str(code)]
    said = subprocess.run(words, capture_output=True, text=True)
    found = [re.search(rf"^{name}: +(\d+)", said.stdout, re.M) for name in COUNTED]
    if found[0] is None or found[1] is None:
        sys.exit(f"{mca} {code.name}: no summary: {said.stderr.strip()[-200:]}")
    return int(found[0][1]), int(found[1][1])


def row(model: str, counts: list[tuple[int, int]]) -> str:
    ratios = [operations / instructions for instructions, operations in counts]
    instructions, operations = map(sum, zip(*counts, strict=True))
    numbers = (operations / instructions, min(ratios), max(ratios))
    return f"| {model} | {len(counts)} | {' | '.join(f'{number:.2f}' for number in numbers)} |"


if __name__ == "__main__":
    main()
