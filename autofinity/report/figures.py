"""The figures of Moore & Childers (CC 2013), drawn from our data. Numbers are the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autofinity.affinity.enumerate import count_affinities
from autofinity.evaluation.cases import Case
from autofinity.evaluation.coverage import ProgramCoverage
from autofinity.evaluation.times import Times, geometric_mean
from autofinity.model.errors import LearningError
from autofinity.model.observation import Workload
from autofinity.model.topology import Topology
from autofinity.report.chart import Chart
from autofinity.report.evaluation_table import mark

SHOWN = ("packed", "distributed", "autofinity")
"""The bars of figures 11 and 12."""


def figure_1(times: Times, workloads: Sequence[Workload], machine: str) -> Chart:
    """Time of every affinity over that of the best, best first, for each workload."""
    shown = {}
    for workload in workloads:
        found = sorted(times.roi_s[workload].values())
        shown[workload.program] = tuple(value / found[0] for value in found)
    longest = max(map(len, shown.values()))
    return Chart(
        f"Figure 1: all affinities of {workloads[0].threads} threads on {machine}",
        "affinities, best first",
        "ROI time over that of the best affinity",
        tuple(str(i + 1) for i in range(longest)),
        {
            name: (*values, *[float("nan")] * (longest - len(values)))
            for name, values in shown.items()
        },
        kind="lines",
    )


def most_and_least_sensitive(times: Times, threads: int) -> tuple[Workload, Workload]:
    """The workloads whose affinities differ most and least: the examples of figure 1.

    Raises `LearningError` for a thread count without runs.
    """
    spread = {
        workload: max(found.values()) / min(found.values())
        for workload, found in times.roi_s.items()
        if workload.threads == threads
    }
    if not spread:
        raise LearningError(f"there are no runs with {threads} threads; profile some")
    by_spread = sorted(spread, key=lambda workload: (-spread[workload], workload.program))
    return by_spread[0], by_spread[-1]


def figure_2a(topology: Topology) -> Chart:
    """Affinities up to isomorphism by thread count, from one to the number of cores."""
    counts = range(1, topology.n_cores + 1)
    found = tuple(float(count_affinities(topology, threads)) for threads in counts)
    return Chart(
        f"Figure 2a: affinities on {topology.name}",
        "threads",
        "affinities up to isomorphism",
        tuple(map(str, counts)),
        {"affinities": found},
        kind="lines",
        log=True,
    )


def figure_9(panel: str, mean_s: Mapping[str, float]) -> Chart:
    """Mean time of the programs under policies that differ in one choice."""
    what = {"9a": "discretisation", "9b": "condense function"}[panel]
    return Chart(
        f"Figure {panel}: what the {what} is worth, learned the paper's way",
        what,
        "ms, geometric mean over the programs, each left out",
        tuple(mean_s),
        {"mean": tuple(value * 1e3 for value in mean_s.values())},
    )


def figure_10(covered: Sequence[ProgramCoverage]) -> Chart:
    """Behaviours of each program, and of it and all before it."""
    return Chart(
        "Figure 10: behaviours that the programs show",
        "programs, those with fewest behaviours first",
        "distinct discretised samples",
        tuple(each.program for each in covered),
        {
            "of the program": tuple(float(each.behaviours) for each in covered),
            "cumulative": tuple(float(each.cumulative) for each in covered),
        },
        kind="lines",
    )


def figure_11(cases: Sequence[Case], threads: int, machine: str) -> Chart:
    """Packed, distributed and the policy's choice for every program at one thread count."""
    chosen = [case for case in cases if case.workload.threads == threads]
    if not chosen:
        raise LearningError(f"no case with {threads} threads was judged; profile some")
    bars = {
        column: (
            *(case.roi_s[column] * 1e3 for case in chosen),
            geometric_mean(case.roi_s[column] for case in chosen) * 1e3,
        )
        for column in SHOWN
    }
    return Chart(
        f"Figure 11: {threads} threads on {machine}",
        "program",
        "ms of the region of interest",
        (*(case.workload.program for case in chosen), "geometric mean"),
        bars,
    )


def figure_12(cases: Sequence[Case], machine: str) -> Chart:
    """The interesting cases at all thread counts; ✓ within 1 % of the better static policy."""
    chosen = [case for case in cases if case.interesting]
    if not chosen:
        raise LearningError(f"none of {len(cases)} cases is interesting: there is nothing to draw")
    return Chart(
        f"Figure 12: interesting cases on {machine}",
        "program and threads",
        "ms of the region of interest",
        tuple(f"{case.workload.program}/{case.workload.threads}" for case in chosen),
        {column: tuple(case.roi_s[column] * 1e3 for case in chosen) for column in SHOWN},
        marks=tuple(mark(case) for case in chosen),
    )
