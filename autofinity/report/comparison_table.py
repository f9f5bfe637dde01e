"""A comparison as a table in the terminal, as JSON and as a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autofinity.evaluation.comparison import MechanismCase, as_simulated, shown
from autofinity.evaluation.comparison_summary import MechanismSummary, Ratio, summarise
from autofinity.report.chart import Chart
from autofinity.report.comparison_legend import HEADINGS

if TYPE_CHECKING:
    from rich.table import Table

_LEAST_SHARE = 0.5e-5
"""Least share that a table of % with three decimals does not show as 0."""


def table(summary: Mapping[str, MechanismSummary], title: str) -> Table:
    """Table with one row for each mechanism, against the operating system."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("mechanism", no_wrap=True)
    headings = ("time", "95 %", "of oracle", *HEADINGS.values(), "overhead", "moved", "pages")
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    for name, of in summary.items():
        time = of.vs_os["time"]
        made.add_row(
            name,
            _number(time.value),
            "" if math.isnan(time.low) else f"{time.low:.3f}-{time.high:.3f}",
            _number(of.of_oracle.value),
            *(_number(of.vs_os[figure].value) for figure in HEADINGS),
            f"{sum(of.overhead.values()):.2%}",
            f"{of.thread_migrations:.0f}",
            f"{of.page_migrations:.0f}",
        )
    return made


def overhead_table(summary: Mapping[str, MechanismSummary]) -> Table:
    """Table of the share of the threads' time that mechanisms took, by kind (as in kMAF'16, table
    5), and of the memory accesses that their hardware added (as in SAMMU, section 4.4).

    Each mechanism has a row; mechanisms that took no time are left out.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    kinds = sorted(
        {kind for of in summary.values() for kind, share in of.overhead.items() if share}
    )
    made = Table(
        title="overhead: % of the threads' time, by kind",
        title_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    made.add_column("mechanism", no_wrap=True)
    for kind in kinds:
        made.add_column(kind, justify="right")
    made.add_column("accesses added, %", justify="right")
    for name, of in summary.items():
        if any(of.overhead.values()):
            shares = (*(of.overhead.get(kind, 0) for kind in kinds), of.transactions_added)
            made.add_row(name, *(_percent(share) if share else "" for share in shares))
    return made


def as_json(
    cases: Sequence[MechanismCase], summary: Mapping[str, MechanismSummary]
) -> dict[str, Any]:
    """JSON of the cases that are shown and of their summary; beside it, as `simulated`, of those
    that were simulated as shorter runs; and the cases that failed.
    """
    simulated = as_simulated(cases)
    return {
        "cases": runs_json(shown(cases)),
        "summary": summary_json(summary),
        "simulated": {"cases": runs_json(simulated), "summary": summary_json(summarise(simulated))},
        "failed": failed_json(cases),
    }


def notes(cases: Sequence[MechanismCase]) -> list[str]:
    """Lines with the notes of deciders where one program was compared; else a line that says where
    they are, or none where there are none.
    """
    noted = [(case, case.run.notes) for case in cases if case.run is not None and case.run.notes]
    if noted and len({case.program for case in cases}) > 1:
        return ["notes: what was done in a run, and when, with one program (-p) or by --json"]
    return [line for case, lines in noted for line in _noted(case, lines)]


def _noted(case: MechanismCase, lines: Sequence[str]) -> list[str]:
    heading = f"notes of {case.mechanism}, {case.program}, seed {case.seed}:"
    return [heading, *(f"  {line}" for line in lines)]


def runs_json(cases: Sequence[MechanismCase]) -> list[dict[str, Any]]:
    """The cases that have a run, one row each.

    Measured values have these units: time in seconds, traffic in bytes, energy in joules, overhead
    as a share of the threads' time; null where a value is unknown.
    """
    return [
        {
            "program": case.program,
            "mechanism": case.mechanism,
            "seed": case.seed,
            "time": run.time_s,
            "mpki": _known(run.mpki),
            "l2_mpki": _known(run.l2_mpki),
            "tlb_miss_rate": _known(run.tlb_miss_rate),
            "traffic": run.traffic_bytes,
            "cache_to_cache": run.cache_to_cache_transfers,
            "invalidations": run.invalidations,
            "energy": _known(run.energy_j),
            "overhead": run.overhead,
            "overhead_ns": dict(run.overhead_ns),
            "processor_energy": _known(run.processor_energy_j),
            "dram_energy": _known(run.dram_energy_j),
            "energy_per_instruction_nj": _known(run.energy_per_instruction_nj),
            "transactions_added": _known(run.transactions_added),
            "thread_migrations": run.thread_migrations,
            "mappings_changed": run.mappings_changed,
            "page_migrations": run.page_migrations,
            "notes": list(run.notes),
        }
        for case in cases
        if (run := case.run) is not None
    ]


def summary_json(summary: Mapping[str, MechanismSummary]) -> dict[str, dict[str, Any]]:
    """Mechanism → its figures over all programs; null where a value is unknown."""
    return {
        name: {
            **{f"{figure}_vs_os": _known(r.value) for figure, r in of.vs_os.items()},
            "time_vs_os_interval": _interval(of.vs_os["time"]),
            "of_oracle": _known(of.of_oracle.value),
            "of_oracle_interval": _interval(of.of_oracle),
            "overhead": sum(of.overhead.values()),
            "overhead_by_kind": dict(of.overhead),
            "transactions_added": _known(of.transactions_added),
            "mappings_changed": of.mappings_changed,
            "programs": of.programs,
        }
        for name, of in summary.items()
    }


def failed_json(cases: Sequence[MechanismCase]) -> list[dict[str, Any]]:
    """The cases that have no run, one row each, with the reason."""
    return [
        {
            "program": case.program,
            "mechanism": case.mechanism,
            "seed": case.seed,
            "reason": case.reason,
        }
        for case in cases
        if case.run is None
    ]


def chart(summary: Mapping[str, MechanismSummary], title: str) -> Chart:
    """Chart of the time against the operating system's, one bar for each mechanism."""
    return Chart(
        title=title,
        x_label="mechanism",
        y_label="time / time under the OS",
        positions=tuple(summary),
        series={"geometric mean": tuple(of.vs_os["time"].value for of in summary.values())},
    )


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _percent(share: float) -> str:
    """The share in %; shares that would be shown as 0 are said to be less than the last digit."""
    return "<0.001" if share < _LEAST_SHARE else f"{100 * share:.3f}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _interval(ratio: Ratio) -> list[float | None]:
    return [_known(ratio.low), _known(ratio.high)]
