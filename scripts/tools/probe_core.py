#!/usr/bin/env python3
"""Measure of a core what `autofinity record-machine` does not: its prefetchers, and a walk alone.

    python scripts/tools/probe_core.py [--cpu N] [--runs N] [--into docs/machines.md]

Compiles `probe_core.c` beside it, which describes the measurements, and runs it on one CPU, several
times. For lines fetched ahead the second best run counts, for streams the best, for times and clock
the fastest: a core that others use at the same time shows less; only for lines can chance show
more. x86-64 only.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from autofinity.report.marked import put_between_marks

HERE = Path(__file__).resolve().parent
FOLLOWED = 0.5
"""Share of pages in which a line ahead was present from which all streams count as followed."""
type Numbers = dict[str, dict[int, float]]
"""Quantity → count → value, as the program prints them."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--cpu", type=int, default=max(os.sched_getaffinity(0)))
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--into", type=Path, help="a document with marks for the table")
    asked = words.parse_args()
    runs = list(measured(asked.cpu, asked.runs))
    table = "\n".join(["| of | found |", "|---|---|", *rows(merged(runs)), ""])
    print(table)
    if asked.into is not None:
        put_between_marks(asked.into, "scripts/tools/probe_core.py", table)


def measured(cpu: int, runs: int) -> Iterator[Numbers]:
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "probe_core"
        source = HERE / "probe_core.c"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-o", program, source], check=True)
        os.sched_setaffinity(0, {cpu})
        for run in range(runs):
            print(f"run {run + 1}/{runs}", file=sys.stderr)
            yield numbers(subprocess.check_output([program], text=True))


def numbers(printed: str) -> Numbers:
    """Values of the lines `what count value`."""
    found: Numbers = defaultdict(dict)
    for what, count, value in (line.split() for line in printed.splitlines()):
        found[what][int(count)] = float(value)
    return found


def merged(runs: list[Numbers]) -> Numbers:
    """The least disturbed values of all runs, as described above."""
    return {
        what: {count: choose(what, sorted(run[what][count] for run in runs)) for count in counts}
        for what, counts in runs[0].items()
    }


def choose(what: str, ascending: list[float]) -> float:
    if what in ("memory", "hit", "walk", "large"):
        return ascending[0]
    return ascending[-1] if what in ("clock", "streams") else ascending[-2:][0]


def rows(found: Numbers) -> Iterator[str]:
    yield f"| core | {processor()} |"
    for way in ("up", "down"):
        ahead = ", ".join(f"{lines:.0f} ({count})" for count, lines in found[way].items())
        yield f"| lines fetched ahead after so many (in brackets) were read {way}wards | {ahead} |"
    followed, lost = streams(found["streams"])
    yield f"| pages that are read line by line in turns | {followed} followed, {lost} not |"
    ghz, hit, near = found["clock"][0], found["hit"][0], min(found["walk"])
    # Pages that are few pages apart use all sets of the second TLB. Pages that are a large power
    # of two apart use so few sets that each access misses.
    far = median(ns for apart, ns in found["walk"].items() if apart != near)
    second = (found["walk"][near] - hit) * ghz
    yield f"| clocks that the second TLB takes longer than the first | {second:.1f} |"
    yield (
        "| the same of 96 pages within three large ones, which need three entries if not "
        f"broken up | {(found['large'][near] - hit) * ghz:.1f} |"
    )
    walk = (far - found["walk"][near]) * ghz
    yield f"| clocks that a page walk takes longer than the second TLB | {walk:.1f} |"


def streams(share: dict[int, float]) -> tuple[int, int]:
    """The largest number of streams that were all followed, and the next number tried.

    A share that was low for fewer streams than are followed was disturbed.
    """
    most = max(count for count, followed in share.items() if followed >= FOLLOWED)
    return most, min((count for count in share if count > most), default=0)


def processor() -> str:
    """Maker, family and model, as in /proc/cpuinfo."""
    told = dict(re.findall(r"^(vendor_id|cpu family|model)\s*: (.*)$", cpuinfo(), re.MULTILINE))
    return f"{told['vendor_id']}, family {told['cpu family']}, model {told['model']}"


def cpuinfo() -> str:
    return Path("/proc/cpuinfo").read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
