#!/usr/bin/env python3
"""Run shipped observations again, and show how times and best affinities differ. As Markdown.

    python scripts/studies/observations_again.py [--machine M]… [--program P]… [--size S]
        [--threads N] [--captures 2] [--jobs N] [--work FOLDER] [--into DOCUMENT]

Shipped observations come from earlier builds of the simulator and from one capture. Here the
training programs are captured again, as often as `--captures` says, and run by the present build in
every hint's best match, with the page colours of the shipped runs' first seed. Rows *shipped to N*
compare shipped times with those of capture N: the effect of the build and of the capture together.
Rows *1 to N* compare two captures in one build: what captures differ by where threads race.
*Best kept* counts programs whose best affinity of the first is that of the second, too; *lost* is
the time that the first's best affinity loses in the second: the worst program's, and the mean. An
interrupted call goes on where it stopped.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
from shown_table import add_into, show_table

from autofinity.report import markdown
from autofinity.store.observations import read
from autofinity.workflow.observations import shipped_observations

COMMAND = "scripts/studies/observations_again.py"
MACHINES = ("opteron-6164he", "xeon-x7550", "xeon-8480", "epyc-9654")
HEADS = (
    *("machine", "compared", "runs", "median, %", "mean of absolutes, %", "largest, %"),
    *("of", "best kept", "lost, worst, %", "lost, mean, %"),
)
FIRST_SEED = 1


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", action="append", default=[], dest="machines")
    words.add_argument("--program", action="append", default=[], dest="programs")
    words.add_argument("--size", default="small")
    words.add_argument("--threads", type=int, default=8)
    words.add_argument("--captures", type=int, default=2)
    words.add_argument("--jobs", type=int, default=1)
    words.add_argument("--work", type=Path, default=Path("build/again"))
    add_into(words)
    asked = words.parse_args()
    rows = (line for machine in asked.machines or MACHINES for line in rows_of(machine, asked))
    show_table(itertools.chain([markdown.heading(*HEADS)], rows), asked.into, COMMAND)


def rows_of(machine: str, asked: argparse.Namespace) -> Iterator[str]:
    """A row for each capture beside the shipped times, then for each beside the first."""
    file = shipped_observations(machine)
    if file is None:
        sys.exit(
            f"no observations of '{machine}' are shipped; data/observations has those that are"
        )
    shipped = times_in(file, asked)
    again = [profiled(machine, number, asked) for number in range(1, asked.captures + 1)]
    for number, times in enumerate(again, start=1):
        yield row(machine, f"shipped to {number}", shipped, times)
    for number, times in enumerate(again[1:], start=2):
        yield row(machine, f"1 to {number}", again[0], times)


def profiled(machine: str, capture: int, asked: argparse.Namespace) -> pd.Series:
    """Times of programs that are captured and run now; each capture has a folder of its own."""
    work = asked.work / str(capture)
    work.mkdir(parents=True, exist_ok=True)
    file = work / f"{machine}.parquet"
    options = [word for program in asked.programs for word in ("--program", program)]
    for name in ("size", "threads", "jobs"):
        options += [f"--{name}", str(getattr(asked, name))]
    subprocess.run(
        [
            *(sys.executable, "-m", "autofinity", "profile", "--machine", machine),
            *("--affinities", "hints", "--no-baselines", *options),
            *("--work", work, "--output", file),
        ],
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return times_in(file, asked)


def times_in(file: Path, asked: argparse.Namespace) -> pd.Series:
    """Seconds of each run of the region, by program and affinity."""
    frame = read(file).to_pandas()
    wanted = (
        (frame["placement"] == "affinity")
        & (frame["seed"] == FIRST_SEED)
        & (frame["threads"] == asked.threads)
        & (frame["input"] == asked.size)
    )
    return frame[wanted].groupby(["program", "affinity"], observed=True)["roi_s"].first()


def row(machine: str, compared: str, before: pd.Series, after: pd.Series) -> str:
    """How runs that both have differ, and what the choice by the first costs in the second."""
    both = pd.DataFrame({"before": before, "after": after}).dropna()
    change = 100.0 * (both["after"] / both["before"] - 1.0)
    largest = change.abs().idxmax()
    lost = 100.0 * pd.Series(
        {
            program: of["after"].loc[of["before"].idxmin()] / of["after"].min() - 1.0
            for program, of in both.groupby(level="program", observed=True)
        }
    )
    return markdown.row(
        machine,
        compared,
        str(len(both)),
        f"{change.median():+.2f}",
        f"{change.abs().mean():.2f}",
        f"{change[largest]:+.1f}",
        largest[0],
        f"{int((lost == 0.0).sum())} of {len(lost)}",
        f"{lost.max():.2f}",
        f"{lost.mean():.2f}",
    )


if __name__ == "__main__":
    main()
