"""How fast this kernel moves pages of 4 KiB, and what a program loses meanwhile: a table.

    filler, program ─► the filler ends ─► compaction moves the program's pages, as `move_pages`

Another process moves them, on a core of its own, as the monitor does. For root, on a machine of two
idle cores and 8 GiB of free memory at least; pages move within a node.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).with_name("page_moves.c")
COMPACT = Path("/proc/sys/vm/compact_memory")
PAGE_BYTES, FILLER_MIB, MIB = 4096, 6000, 1024
BEFORE_S, SECONDS = 1.5, 8
LEAST_PAGES = 20_000
"""Moves of fewer pages say little."""


class Moved(NamedTuple):
    """One compaction."""

    pages: int
    gbs: float
    lost: float
    """Share of the program's reads meanwhile."""
    flushes: int
    """Interrupts of the program's core to forget translations."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    if not os.access(COMPACT, os.W_OK) or len(os.sched_getaffinity(0)) < 2:
        print(f"page_moves: {COMPACT} cannot be written, or there is one core: run it as root")
        return 1
    print("| reads | pages moved | GB/s | lost meanwhile | lost a page, us | pages a flush |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "page_moves"
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-O2", "-o", program, SOURCE], check=True)
        for order in ("random", "in-order"):
            found = _all_moved(program, order, options.repeats)
            if not found:
                print(f"page_moves: no compaction moved {LEAST_PAGES} pages", file=sys.stderr)
                return 1
            print(_row(order, found), flush=True)
    return 0


def _all_moved(program: Path, order: str, repeats: int) -> list[Moved]:
    """So many compactions that moved enough pages, of three times as many at most."""
    found: list[Moved] = []
    for number in range(1, 3 * repeats + 1):
        done = f"{len(found)} of {repeats} done"
        print(f"page_moves: {order} reads, try {number}, {done}", file=sys.stderr, flush=True)
        each = _moved(program, order)
        if each.pages >= LEAST_PAGES:
            found.append(each)
        if len(found) == repeats:
            break
    return found


def _moved(program: Path, order: str) -> Moved:
    ours, theirs = sorted(os.sched_getaffinity(0))[:2]
    filler = _started(program, FILLER_MIB, "0", "hold")
    reader = _started(program, MIB, str(SECONDS), order, cpu=theirs)
    filler.communicate()
    os.sched_setaffinity(0, {ours})
    time.sleep(2 * BEFORE_S)
    begin_ns, pages, flushes = time.monotonic_ns(), _migrated(), _flushes(theirs)
    COMPACT.write_text("1")
    end_ns, pages, flushes = time.monotonic_ns(), _migrated() - pages, _flushes(theirs) - flushes
    os.sched_setaffinity(0, {ours, theirs})
    out, _ = reader.communicate()
    looks = [tuple(map(int, line.split())) for line in out.splitlines()]

    def rate(from_ns: float, to_ns: float) -> float:
        return sum(reads for at_ns, reads in looks if from_ns < at_ns <= to_ns) / (to_ns - from_ns)

    lost = 1 - rate(begin_ns, end_ns) / rate(begin_ns - 1e9 * BEFORE_S, begin_ns)
    return Moved(pages, pages * PAGE_BYTES / (end_ns - begin_ns), lost, flushes)


def _started(
    program: Path, mib: int, seconds: str, order: str, cpu: int | None = None
) -> subprocess.Popen[str]:
    words = [str(program), str(mib), seconds, order]
    pipe = subprocess.PIPE
    process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    if cpu is not None:
        os.sched_setaffinity(process.pid, {cpu})
    return process


def _migrated() -> int:
    lines = (line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(dict(lines)["pgmigrate_success"])


def _flushes(cpu: int) -> int:
    lines = (line.split() for line in Path("/proc/interrupts").read_text().splitlines())
    return next((int(words[1 + cpu]) for words in lines if words[0] == "TLB:"), 0)


def _row(order: str, found: list[Moved]) -> str:
    def between(values: list[float], form: str) -> str:
        middle = statistics.median(values)
        return f"{middle:{form}} ({min(values):{form}} to {max(values):{form}})"

    lost_us = [each.lost * PAGE_BYTES / each.gbs / 1e3 for each in found]
    cells = (
        order,
        str(sum(each.pages for each in found)),
        between([each.gbs for each in found], ".2f"),
        between([each.lost for each in found], ".0%"),
        between(lost_us, ".1f"),
        f"{statistics.median(each.pages / max(1, each.flushes) for each in found):.0f}",
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
