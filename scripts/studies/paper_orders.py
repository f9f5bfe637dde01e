#!/usr/bin/env python3
"""Packed or spread: preferences of the AutoFinity paper's programs on its real machine, and of
similar training programs on the simulated one.

    python scripts/studies/paper_orders.py [--observations FILE] [--into DOCUMENT]

The paper (sections 4.2 and 4.3, figures 11 and 12; 48 cores in 8 dies of 4 sockets) says in words
which of the two affinities a program preferred. Ours are times from data/observations of
`opteron-6164he`, or from FILE, which may hold other inputs. A program prefers one affinity where
the other takes 20 % longer, which the paper calls interesting, and leans to it from 2 % on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shown_table import add_into, show_table

from autofinity.affinity.best_matches import BestMatches
from autofinity.evaluation.times import times_of
from autofinity.model.affinity import SPREAD, Hint
from autofinity.report.markdown import heading, row
from autofinity.store.observations import read
from autofinity.workflow.backends import machine_topology

OBSERVATIONS = Path(__file__).resolve().parents[2] / "data/observations/opteron-6164he.parquet"
PACKED = Hint.parse("slp")
INTERESTING, NOTICED = 1.2, 1.02


@dataclass(frozen=True, slots=True)
class Like:
    """A program of ours that resembles one of the paper's, and the preference of the paper's."""

    ours: str
    paper: str
    does: str
    preferred: str
    threads: tuple[int, ...]


LIKES = (
    Like("pricer", "blackscholes", "prices options", "neither", (8,)),
    Like("md", "c_md", "molecular dynamics", "neither", (8,)),
    Like("fluid", "fluidanimate", "a fluid in cells with locks", "neither, nearly", (8,)),
    Like("dedup", "dedup", "a deduplicating pipeline", "packed", (4, 8, 16)),
    Like("anneal", "canneal", "places a netlist by annealing", "packed", (8,)),
    Like("kmedian", "streamcluster", "medians of a stream, barriers", "packed", (8,)),
    Like("kmedian", "streamcluster", "the same", "spread", (16, 24)),
    Like("lu", "c_lu", "LU factors", "spread", (8,)),
    Like("fft", "c_fft6", "six-step transform", "spread", (8,)),
    Like("groupby", "dc", "totals by key", "spread (packed in the text of figure 12)", (8,)),
)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--observations", type=Path, default=OBSERVATIONS)
    add_into(words)
    wanted = words.parse_args()
    show_table(rows(wanted.observations), wanted.into, "scripts/studies/paper_orders.py")


def rows(observations: Path) -> Iterator[str]:
    """The table of the observed programs, as Markdown."""
    times = times_of(read(observations))
    matches = BestMatches(machine_topology("opteron-6164he"))
    there = ("the paper's", "ours", "does", "threads", "preferred there")
    yield heading(*there, "spread / packed", "here")
    for like in LIKES:
        for threads in like.threads:
            seen = [
                known
                for known in times.roi_s
                if (known.program, known.threads) == (like.ours, threads)
            ]
            if not seen:
                continue
            packed, spread = (
                times.of(seen[0], matches(threads, hint)) for hint in (PACKED, SPREAD)
            )
            ratio = spread / packed
            cells = (like.paper, f"`{like.ours}`", like.does, str(threads), like.preferred)
            yield row(*cells, f"{ratio:.2f}", said(ratio))


def said(ratio: float) -> str:
    """The preference in words, from the time spread over the time packed."""
    faster, factor = ("packed", ratio) if ratio > 1 else ("spread", 1 / ratio)
    if factor < NOTICED:
        return "neither"
    return faster if factor >= INTERESTING else f"{faster}, a little"


if __name__ == "__main__":
    main()
