"""How much of a program's time depends on its affinity.

In the paper the worst affinity of streamcluster takes three times as long as the best, that of
swaptions 1.45 times.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from autofinity.evaluation.times import Times, times_of
from autofinity.model.errors import LearningError, UsageError
from autofinity.model.observation import Workload
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart


class AllAffinities:
    """Times of the programs asked for, or of the most and the least sensitive one."""

    def data(self, observed: Observed) -> dict[Workload, list[float]]:
        """Times over that of the best affinity, best first.

        Raises `UsageError` for a program that was not observed, `LearningError` without any.
        """
        threads = observed.threads
        times = times_of(observed.rows(threads))
        by_name = {workload.program: workload for workload in times.roi_s}
        for name in observed.programs:
            if name not in by_name:
                raise UsageError(
                    f"--program {name}: it was not profiled with {threads} threads; expected one "
                    f"of {', '.join(sorted(by_name))}"
                )
        chosen = [by_name[name] for name in observed.programs]
        found = {}
        for workload in chosen or most_and_least_sensitive(times, threads):
            best, *others = sorted(times.roi_s[workload].values())
            found[workload] = [1.0, *(time / best for time in others)]
        return found

    def draw(self, figure: AnyFigure, found: Mapping[Workload, Sequence[float]], on: str) -> Chart:
        """A line for each program."""
        longest = max(map(len, found.values()))
        return Chart(
            f"Figure 1: {figure.title} of {next(iter(found)).threads} threads on {on}",
            "affinities, best first",
            "ROI time over that of the best affinity",
            tuple(str(i + 1) for i in range(longest)),
            {
                workload.program: (*values, *[math.nan] * (longest - len(values)))
                for workload, values in found.items()
            },
            kind="lines",
        )


def most_and_least_sensitive(times: Times, threads: int) -> tuple[Workload, Workload]:
    """The workloads whose affinities differ most and least, as in the paper's examples.

    Raises `LearningError` for a thread count without runs.
    """
    of_workload = {
        workload: max(found.values()) / min(found.values())
        for workload, found in times.roi_s.items()
        if workload.threads == threads
    }
    if not of_workload:
        raise LearningError(f"there are no runs with {threads} threads; profile some")
    by_spread = sorted(of_workload, key=lambda workload: (-of_workload[workload], workload.program))
    return by_spread[0], by_spread[-1]


FIGURE = Figure(PAPER, "1", "all affinities", "1", AllAffinities())
