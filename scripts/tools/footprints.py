#!/usr/bin/env python3
"""Memory that training programs touch, and their times: the tables of training/README.md.

    python scripts/tools/footprints.py --size core --size llc --size memory
                                         [--program NAME]... [--threads 8] [--suite FILE]

Two tables with a row for each program. Each program runs twice for each size. Built plainly, it
gives the most memory it had (RSS), the seconds of the whole and of the region of interest, and the
CPU seconds in the region. Built as for capture with a library that only counts
(`scripts/tools/counted/`) in the place of the capture's runtime, it gives loads and stores in the
region and outside of it, the distinct lines of 64 bytes touched in the region by the thread that
touches most and by all, and the bytes that caches of 1 MiB, one for each thread, would fetch there.
Loads and stores are those that a capture records: of the machine code, a vector counts as one; but
without those to lock words, and with those of threads that wait for a flag. The bytes fetched over
the CPU seconds, times the threads, are the bytes that all threads would fetch in a second on cores
as fast as the host's: their demand on a shared cache or on memory. No trace is written, so a region
of many G accesses costs seconds or minutes. Seconds are the host's: only compare them with each
other.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autofinity.capture.build import build_program
from autofinity.capture.compilers import Compilers, skip_reason
from autofinity.capture.request import CaptureRequest, arguments_of, environment_of
from autofinity.resources import shipped
from autofinity.trace.manifest import ProgramSpec, Suite, load_suite

SOURCES = Path(__file__).resolve().parent / "counted"
NATIVE = Path(__file__).resolve().parents[2] / "autofinity" / "native"
COUNTING = (
    *(SOURCES / name for name in ("tally.c", "copies.c", "sanitizer.c", "code.c")),
    NATIVE / "capture" / "interpose" / "entries.c",
)
FLAGS = ("-O2", "-fPIC", "-shared", "-fno-builtin", "-Wall", "-Wextra", "-Werror")
"""Flags that keep the compiler from adding calls of memcpy or memset: those functions are in
here."""
GIB, MIB = 2**30, 2**20
LINE_BYTES = 64


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a program: the output of its library, and the system's figures."""

    figures: Mapping[str, float]
    whole_s: float
    peak_bytes: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """Memory that one program of one size touches with a thread count."""

    accesses: int
    outside: int
    thread_bytes: int
    """Bytes of the lines that the thread touches which touches most, in the region."""
    all_bytes: int
    fetched_bytes: int
    """Misses of the threads' private caches of 1 MiB in the region, in bytes; no write-backs."""
    region_s: float
    region_cpu_s: float
    whole_s: float
    peak_bytes: int


class Counter:
    """Builds programs and the two libraries once, and runs them."""

    def __init__(self, suite: Suite, folder: Path) -> None:
        self.suite, self.folder = suite, folder
        self.compilers = Compilers.find(os.environ)
        self._library("region.so", SOURCES / "region.c")
        self._library("libtsan.so.2", SOURCES / "region.c", *COUNTING)

    def _library(self, name: str, *sources: Path) -> None:
        line = [self.compilers.cc, *FLAGS, f"-I{NATIVE}", f"-Wl,-soname,{name}", "-o"]
        subprocess.run([*line, str(self.folder / name), *map(str, sources)], check=True)

    def footprint(self, spec: ProgramSpec, size: str, threads: int) -> Footprint:
        """Run a program plainly and counted. Raises `SystemExit` where the program does not print
        ok.
        """
        plain = self._run(spec, size, threads, instrumented=False)
        counted = self._run(spec, size, threads, instrumented=True)
        of = counted.figures
        return Footprint(
            accesses=int(of["inside"]),
            outside=int(of["outside"]),
            thread_bytes=int(of["thread_lines"]) * LINE_BYTES,
            all_bytes=int(of["all_lines"]) * LINE_BYTES,
            fetched_bytes=int(of["fetched_lines"]) * LINE_BYTES,
            region_s=plain.figures["region_s"],
            region_cpu_s=plain.figures["region_cpu_s"],
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


type Row = Mapping[str, Footprint]
"""Footprints of one program, by size."""


def touched(name: str, row: Row) -> str:
    """Lines of the first table: in the region, accesses in millions, a thread's MiB, all MiB."""
    return "\n".join(
        f"| {name} | {size} | {f.accesses / 1e6:,.1f} | {f.thread_bytes / MIB:,.2f} "
        f"| {f.all_bytes / MIB:,.1f} |"
        for size, f in row.items()
    )


def ran(name: str, row: Row, threads: int) -> str:
    """Lines of the second table; its last figure is the rate at which all threads would fetch
    together.
    """
    return "\n".join(
        f"| {name} | {size} | {f.outside / 1e6:,.1f} | {f.peak_bytes / GIB:.2f} "
        f"| {f.whole_s:.2f} | {f.region_s:.2f} "
        f"| {f.region_cpu_s:.2f} | {f.fetched_bytes / 1e9:.2f} "
        f"| {threads * f.fetched_bytes / 1e9 / max(f.region_cpu_s, 1e-6):.0f} |"
        for size, f in row.items()
    )


SECOND = (
    *("outside, M", "RSS, GiB", "whole, s", "region, s"),
    *("region, CPU s", "fetched, GB", "wanted, GB/s"),
)


def head(*columns: str) -> str:
    """The headings, and the line below."""
    return f"| program | size | {' | '.join(columns)} |\n" + "|---" * (2 + len(columns)) + "|"


def print_tables(
    counter: Counter, programs: Iterable[ProgramSpec], sizes: Sequence[str], threads: int
) -> None:
    """Print the first table as programs finish, then the second."""
    print(head("accesses, M", "a thread, MiB", "all, MiB"), flush=True)
    rows: dict[str, Row] = {}
    for spec in programs:
        if reason := skip_reason(spec, counter.compilers):
            print(f"{spec.name}: {reason}", file=sys.stderr)
            continue
        rows[spec.name] = {size: counter.footprint(spec, size, threads) for size in sizes}
        print(touched(spec.name, rows[spec.name]), flush=True)
    print("\n" + head(*SECOND))
    for name, row in rows.items():
        print(ran(name, row, threads))


def main() -> None:
    words = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    words.add_argument("--size", action="append", default=[], help="several allowed; or small")
    words.add_argument("--program", "-p", action="append", default=[])
    words.add_argument("--threads", "-t", type=int, default=8)
    words.add_argument("--suite", type=Path, default=shipped("training", "suite.toml"))
    args = words.parse_args()
    suite = load_suite(args.suite)
    with tempfile.TemporaryDirectory(prefix="autofinity-footprints-") as folder:
        counter = Counter(suite, Path(folder))
        print_tables(counter, suite.pick(tuple(args.program)), args.size or ["small"], args.threads)


if __name__ == "__main__":
    main()
