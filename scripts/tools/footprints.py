#!/usr/bin/env python3
"""What the training programs touch, and how long they take: the tables of training/README.md.

    PYTHONPATH=. python scripts/tools/footprints.py --size core --size llc --size memory
                                         [--program NAME]... [--threads 8] [--suite FILE]

A row for each program and size. The program runs twice: once as plainly built, for the seconds of
its region of interest and of the whole and for the most memory it had (RSS, GiB); and once built as
for capture with a library that only counts (`scripts/tools/counted/`) in the place of the capture's
runtime: millions of loads and stores in the region and outside of it, and the distinct lines of 64
bytes touched in the region by the thread that touches most and by all (MiB). No trace is written,
and no more is counted than that, so a region of many G accesses costs seconds or minutes. Seconds
are those of the host: read them against each other.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture.build import Compilers, build_program, skip_reason
from autofinity.capture.run import CaptureRequest, arguments_of, environment_of
from autofinity.resources import shipped
from autofinity.trace.manifest import ProgramSpec, Suite, load_suite

SOURCES = Path(__file__).resolve().parent / "counted"
FLAGS = ("-O2", "-fPIC", "-shared", "-fno-builtin", "-Wall", "-Wextra", "-Werror")
GIB, MIB = 2**30, 2**20
LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a program: what its library wrote, and what the system says."""

    figures: Mapping[str, float]
    whole_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What one program of one size touches with a thread count."""

    accesses: int
    outside: int
    thread_bytes: int
    """Lines of the thread that touches most, in the region."""
    all_bytes: int
    region_s: float
    whole_s: float
    peak_bytes: int


class Counter:
    """Builds programs and the two libraries once, and runs them."""

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.suite, self.folder = suite, folder
        self.compilers = Compilers.find(os.environ)
        self._library("region.so", "region.c")
        self._library("libtsan.so.2", "region.c", "accesses.c")

    def _library(self, name: str, *sources: str) -> None:
        paths = [str(SOURCES / source) for source in sources]
        line = [self.compilers.cc, *FLAGS, f"-Wl,-soname,{name}", "-o", str(self.folder / name)]
        subprocess.run([*line, *paths], check=True)

    def footprint(self, spec: ProgramSpec, size: str, threads: int) -> Footprint:
        """Run a program plainly and counted. Raises `SystemExit` where it does not say ok."""
        plain = self._run(spec, size, threads, instrumented=False)
        counted = self._run(spec, size, threads, instrumented=True)
        of = counted.figures
        return Footprint(
            accesses=int(of["inside"]),
            outside=int(of["outside"]),
            thread_bytes=int(of["thread_lines"]) * LINE_BYTES,
            all_bytes=int(of["all_lines"]) * LINE_BYTES,
            region_s=plain.figures["region_s"],
            whole_s=plain.whole_s,
            peak_bytes=plain.peak_bytes,
        )

    def _run(self, spec: ProgramSpec, size: str, threads: int, *, instrumented: bool) -> Ran:
        cache = self.folder / "builds"
        built = build_program(self.suite, spec, self.compilers, cache, instrumented=instrumented)
        request = CaptureRequest(self.suite, spec, built, threads, size, self.folder)
        written = self.folder / "figures"
        env = environment_of(request, os.environ) | {"FOOTPRINT_FILE": str(written)}
        if instrumented:
            env["LD_LIBRARY_PATH"] = str(self.folder)
        else:
            env["LD_PRELOAD"] = str(self.folder / "region.so")
        with tempfile.TemporaryFile("w+") as said:
            begun = time.monotonic()
            argv = arguments_of(request)
            process = subprocess.Popen(argv, env=env, cwd=self.folder, stdout=said)
            _, status, used = os.wait4(process.pid, 0)
            whole_s = time.monotonic() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            answer = said.read()
        if process.returncode or not re.search(spec.expect, answer, re.MULTILINE):
            sys.exit(
                f"{' '.join(argv)}: exit code {process.returncode}, said {answer.strip()!r}, "
                f"expected 0 and {spec.expect!r}"
            )
        lines = [line.split() for line in written.read_text().splitlines()]
        return Ran({name: float(value) for name, value in lines}, whole_s, used.ru_maxrss * 1024)


HEAD = (
    "| program | size | accesses, M | outside, M | a thread, MiB | all, MiB "
    "| RSS, GiB | region, s | whole, s |\n" + "|---" * 9 + "|"
)


def row(name: str, size: str, f: Footprint) -> str:
    """One line of the table."""
    counts = f"{f.accesses / 1e6:,.0f} | {f.outside / 1e6:,.0f}"
    lines = f"{f.thread_bytes / MIB:,.2f} | {f.all_bytes / MIB:,.1f}"
    run = f"{f.peak_bytes / GIB:.2f} | {f.region_s:.2f} | {f.whole_s:.2f}"
    return f"| {name} | {size} | {counts} | {lines} | {run} |"


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--size", action="append", help="several allowed; default: small")
    words.add_argument("--program", "-p", action="append", default=[])
    words.add_argument("--threads", "-t", type=int, default=8)
    words.add_argument("--suite", type=Path, default=shipped("training", "suite.toml"))
    args = words.parse_args()
    suite = load_suite(args.suite)
    folder = Path(tempfile.mkdtemp(prefix="autofinity-footprints-"))
    try:
        counter = Counter(suite, folder)
        print(HEAD)
        for spec in suite.pick(tuple(args.program)):
            if reason := skip_reason(spec, counter.compilers):
                print(f"{spec.name}: {reason}", file=sys.stderr)
                continue
            for size in args.size or ["small"]:
                print(row(spec.name, size, counter.footprint(spec, size, args.threads)), flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
