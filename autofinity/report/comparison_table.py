"""A comparison as a table in the terminal, as JSON and as a chart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from autofinity.evaluation.comparison import MechanismCase
from autofinity.evaluation.comparison_summary import MechanismSummary, Ratio
from autofinity.report.chart import Chart

if TYPE_CHECKING:
    from rich.table import Table


WIDTH = 118
"""Columns that the table needs."""


def table(summary: Mapping[str, MechanismSummary], title: str) -> Table:
    """One row a mechanism, against the operating system."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    made.add_column("mechanism", no_wrap=True)
    for heading in (
        *("time", "95 %", "of oracle", "MPKI", "traffic", "c2c", "inval.", "energy"),
        *("overhead", "moved", "pages"),
    ):
        made.add_column(heading, justify="right", no_wrap=True)
    for name, of in summary.items():
        time = of.vs_os["time"]
        made.add_row(
            name,
            _number(time.value),
            f"{_number(time.low)}-{_number(time.high)}",
            _number(of.of_oracle.value),
            *(
                _number(of.vs_os[figure].value)
                for figure in ("mpki", "traffic", "cache_to_cache", "invalidations", "energy")
            ),
            f"{of.overhead:.2%}",
            f"{of.thread_migrations:.0f}",
            f"{of.page_migrations:.0f}",
        )
    return made


def as_json(
    cases: Sequence[MechanismCase], summary: Mapping[str, MechanismSummary]
) -> dict[str, object]:
    """Cases with their measured values (time in seconds, traffic in bytes, energy in joules,
    overhead as a share of the threads' time), and the summary; null where nothing is known.
    """
    return {
        "cases": [
            {
                "program": case.program,
                "mechanism": case.mechanism,
                "seed": case.seed,
                "time": run.time_s,
                "mpki": _known(run.mpki),
                "traffic": run.traffic_bytes,
                "cache_to_cache": run.cache_to_cache_transfers,
                "invalidations": run.invalidations,
                "energy": _known(run.energy_j),
                "overhead": run.overhead,
                "overhead_ns": dict(run.overhead_ns),
                "thread_migrations": run.thread_migrations,
                "page_migrations": run.page_migrations,
            }
            for case in cases
            if (run := case.run) is not None
        ],
        "summary": {
            name: {
                **{f"{figure}_vs_os": _known(r.value) for figure, r in of.vs_os.items()},
                "time_vs_os_interval": _interval(of.vs_os["time"]),
                "of_oracle": _known(of.of_oracle.value),
                "of_oracle_interval": _interval(of.of_oracle),
                "overhead": of.overhead,
                "programs": of.programs,
            }
            for name, of in summary.items()
        },
        "failed": [
            {
                "program": case.program,
                "mechanism": case.mechanism,
                "seed": case.seed,
                "reason": case.reason,
            }
            for case in cases
            if case.run is None
        ],
    }


def chart(summary: Mapping[str, MechanismSummary], title: str) -> Chart:
    """Time against the operating system's, a bar a mechanism."""
    return Chart(
        title=title,
        x_label="mechanism",
        y_label="time / time under the OS",
        positions=tuple(summary),
        series={"geometric mean": tuple(of.vs_os["time"].value for of in summary.values())},
    )


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _interval(ratio: Ratio) -> list[float | None]:
    return [_known(ratio.low), _known(ratio.high)]
