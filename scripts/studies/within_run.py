"""Compare decisions within the run with decisions before it: docs/run.md.

    python scripts/studies/within_run.py [--machine M …] [--suite training|kernels] [--size S …]
        [--program P …] [--work DIR] [--seeds N] [--minute-of os|best]
        [--sampling-loss L …] [--into DOCUMENT]

Training programs, and the public kernels (kernels/), from which nothing is learned, run for a
minute (`minute_runs`; of the best hint, or of the system): under the operating system; with each
hint from the start; started again with the hint that the policy chose from whole runs; and with
decisions within the run. The policy is the machine's own, else the one for any machine, as in
`run`, but learned without the program in question (`unseen_policies`). Inputs of other sizes than
the defaults have tables of their own in a document.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from minute_runs import THREADS, Asked, OnMachine, Row
from shown_table import add_into, show_table
from unseen_policies import UnseenPolicies

from autofinity.evaluation.cases import WITHIN
from autofinity.evaluation.times import geometric_mean
from autofinity.model.errors import AutofinityError
from autofinity.runtime.looking import SAMPLING_LOSS
from autofinity.workflow.capture import capture
from autofinity.workflow.wanted import wanted_on

HERE = Path(__file__).resolve().parents[2]
SUITES = {"training": ("small",), "kernels": ("llc",)}
"""Folders of suites, with the sizes that are affordable."""
MACHINES = ("opteron-6164he", "epyc-9654", "xeon-8480", "xeon-e5-2650")
MARK = "scripts/studies/within_run.py, "
BEHIND = 0.015
"""Loss against the best hint above which programs are named."""


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--machine", action="append", help="default: " + ", ".join(MACHINES))
    words.add_argument("--suite", choices=SUITES, help="default: both")
    words.add_argument("--program", action="append", default=[])
    words.add_argument("--size", action="append", help="of inputs (default: small, of kernels llc)")
    words.add_argument(
        "--seeds", type=int, default=3, help="number of seeds of the operating system"
    )
    words.add_argument(
        "--minute-of", choices=("best", "os"), default="best", help="whose run takes a minute"
    )
    words.add_argument(
        "--sampling-loss",
        type=float,
        action="append",
        help=f"share of its time that a program is taken to lose (default: {SAMPLING_LOSS})",
    )
    words.add_argument("--work", type=Path, default=HERE / "build" / "within")
    add_into(words)
    wanted = words.parse_args()
    asked = Asked(
        tuple(wanted.program),
        tuple(wanted.size or ()),
        wanted.seeds,
        wanted.minute_of,
        tuple(wanted.sampling_loss or (SAMPLING_LOSS,)),
        wanted.work,
    )
    suites = [wanted.suite] if wanted.suite else list(SUITES)
    other_sizes = [size for size in asked.sizes if (size,) not in SUITES.values()]
    policies = UnseenPolicies(asked.work)
    judged = {
        name: list(rows(OnMachine(name, asked, policies), asked, suites))
        for name in wanted.machine or MACHINES
    }
    for name, lines in (("machines", machines_table(judged)), ("behind", behind_table(judged))):
        print()
        show_table(lines, wanted.into, ", ".join((MARK + name, *other_sizes)))


def rows(on: OnMachine, asked: Asked, suites: Sequence[str]) -> Iterator[Row]:
    for suite in suites:
        wanted = wanted_on(
            on.name,
            sizes=asked.sizes or SUITES[suite],
            suite=HERE / suite / "suite.toml",
            work=asked.work / "traces",
        )
        known = tuple(n for n in asked.programs if n in wanted.suite.programs)
        if asked.programs and not known:
            continue
        for program in capture(replace(wanted, programs=known), THREADS, sample="auto"):
            try:
                row = on.row(program)
            except AutofinityError as error:
                print(f"{on.name} {program.name} left out: {error}", flush=True)
                continue
            print(f"{on.name} {line_of(row)}", flush=True)
            yield row


def line_of(row: Row) -> str:
    """A line that shows progress."""
    best = row.best_s
    runs = next(iter(row.within.values()))
    return (
        f"{row.program}: os {ratio(best / row.system_s)} restart "
        f"{best / row.hint_s(row.restart):.3f} ({row.restart}) within "
        + ", ".join(
            f"{best / run.time_s:.3f} ({run.hint}, at {run.decided_s:.1f} s, looking "
            f"{run.looking:.2%})"
            for run in runs
        )
        + f" best {row.best}"
        + ("" if row.interesting else " not interesting")
    )


def machines_table(judged: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    yield (
        "| machine | | of the best hint | worst | interesting won | against the OS | worst | "
        "looking, of a minute | most |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for name, every in judged.items():
        if not every:
            continue
        if any(row.os_s for row in every):
            yield figures(name, "operating system", every, lambda row: row.system_s)
        yield figures(name, "started again", every, lambda row: row.hint_s(row.restart))
        losses = list(every[0].within)
        for loss in losses:
            label = "within the run"
            if len(losses) > 1:
                label += f", sampling taken to lose {loss:.0%}"
            spent = [statistics.median(run.looking for run in row.within[loss]) for row in every]
            looking = f" {statistics.mean(spent):.2%} | {max(spent):.2%} |"
            time_of = lambda row, lost=loss: row.within_s(lost)  # noqa: E731
            yield figures(name, label, every, time_of, looking)


def figures(
    machine: str,
    label: str,
    every: Sequence[Row],
    time_of: Callable[[Row], float],
    looking: str = " | |",
) -> str:
    known = [row for row in every if not math.isnan(time_of(row))]
    of_best = [row.best_s / time_of(row) for row in known]
    against = [row.system_s / time_of(row) for row in known if row.os_s]
    some = [row for row in known if row.interesting]
    won = sum(row.won(time_of(row)) for row in some)
    return (
        f"| `{machine}` | {label} | {geometric_mean(of_best):.3f} | {min(of_best):.3f} "
        f"| {won} of {len(some)} "
        f"| {ratio(geometric_mean(against))} | {ratio(min(against, default=math.nan))} |{looking}"
    )


def ratio(value: float) -> str:
    """A ratio to the system's time, which sampled programs have not."""
    return "–" if math.isnan(value) else f"{value:.3f}"


def behind_table(judged: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    yield (
        "| machine | program | of the best hint | ran in | best | the OS | started again "
        "| because |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    for name, every in judged.items():
        for row in every:
            loss, runs = next(iter(row.within.items()))
            mine = row.within_s(loss)
            behind_system = mine > row.system_s * (1 + WITHIN)
            if row.best_s / mine >= 1 - BEHIND and not behind_system:
                continue
            run = min(runs, key=lambda each: abs(each.time_s - mine))
            again = row.best_s / row.hint_s(row.restart)
            notes = "; ".join(run.notes).replace("|", "/")
            yield (
                f"| `{name}` | {row.program} | {row.best_s / mine:.3f} | {run.hint} | {row.best} "
                f"| {ratio(row.best_s / row.system_s)} | {again:.3f} | {notes} |"
            )


if __name__ == "__main__":
    main()
