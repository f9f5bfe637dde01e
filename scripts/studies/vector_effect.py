#!/usr/bin/env python3
"""Packed against distributed, before code was captured with its vectors and now. As Markdown.

    python scripts/studies/vector_effect.py [--into DOCUMENT]

Milliseconds of the region at size `small` with 8 threads, from data/observations of now and of the
last commit before vector code was captured: programs were then built with `-O2`, and instrumented
before vectorisation. The simulator changed between the two as well, and so did `lbm`: the loop was
rewritten, and the program went from Fortran to C. Needs git, and a clone with that commit.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from older_observations import ROOT, keep_before_vectors
from shown_table import add_into, show_table

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import Times, times_of
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.observation import Workload
from autofinity.report.markdown import row
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology

COMMAND = "scripts/studies/vector_effect.py"
MACHINES = ("opteron-6164he", "xeon-8480", "epyc-9654")
PROGRAMS = ("stencil", "power", "lbm", "pricer", "fft")
THREADS = 8


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_into(words)
    asked = words.parse_args()
    show_table(rows(), asked.into, COMMAND)


def rows() -> Iterator[str]:
    """The table: packed and distributed in milliseconds, and the second over the first."""
    yield f"| | | {' | '.join(MACHINES)} |"
    yield "|---|---|" + "---|" * len(MACHINES)
    kinds = {"before": before, "now": now}
    columns = {kind: [times(machine) for machine in MACHINES] for kind, times in kinds.items()}
    for program in PROGRAMS:
        for kind, known in columns.items():
            cells = [
                cell(times, machine, program)
                for times, machine in zip(known, MACHINES, strict=True)
            ]
            yield row(f"`{program}`", kind, *cells)


def cell(times: Times, machine: str, program: str) -> str:
    """Times of one program on one machine."""
    workload = Workload(program, "small", THREADS)
    matches = BestMatches(machine_topology(machine))
    packed, spread = (times.of(workload, matches(THREADS, hint)) for hint in (PACKED, SPREAD))
    return f"{1e3 * packed:.2f}, {1e3 * spread:.2f} ({spread / packed:.2f})"


def now(machine: str) -> Times:
    """Times of the shipped observations."""
    return times_of(read(ROOT / "data" / "observations" / f"{machine}.parquet"))


def before(machine: str) -> Times:
    """Times of the observations that were shipped then."""
    with tempfile.TemporaryDirectory() as folder:
        return times_of(read(keep_before_vectors(machine, Path(folder))))


if __name__ == "__main__":
    main()
