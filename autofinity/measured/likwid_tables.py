"""Tables of likwid-perfctr, whichever way they were written, as counts.

A group of events was counted in each hardware thread for as long as the group's run time says.
Several groups took turns, or were regions of their own; of regions, which may lie in each other,
the region that took longest counts.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from autofinity.measured.counts import (
    MOST_EVENTS,
    Count,
    Measured,
    MeasuredError,
    at_work,
    number,
    total,
)

_ABSENT = ("", "-", "nan", "-nan")
"""Cells of likwid where nothing was counted."""
RUNTIME = "runtime (rdtsc)"
"""Begins the metric, or the row, that says how long a group was counted; in small letters."""
_OF_CORE = ("FIXC", "PMC", "UPMC", "GPC")
"""Registers of a core; those of others (memory controllers, links) count what many cores do."""

type Cells = Mapping[int, str]
"""Hardware thread → what its cell says."""


def checked_cell(text: str, event: str, where: str) -> str:
    """A cell: a number, or that there is none. Raises `MeasuredError`, which says `where` it is."""
    if text.lower() not in _ABSENT and math.isnan(number(text)):
        raise MeasuredError(
            f"{where}: got '{text[:40]}' for {event[:60]}, expected a number of 0 or more, or '-'"
        )
    return text


@dataclass(slots=True)
class Table:
    """One group of events, in one region or the whole run."""

    events: dict[str, tuple[str, Cells]] = field(default_factory=dict)
    """Event → register, and the cells."""
    runtime_s: Mapping[int, float] = field(default_factory=dict)

    def add(self, event: str, register: str, cells: Cells) -> None:
        """A row of events; or of the run time, which is one where a group has no metrics.

        Raises `MeasuredError` for more events than a group has.
        """
        if event.lower().startswith(RUNTIME):
            self.timed(cells)
            return
        self.events.setdefault(event, (register, cells))
        if len(self.events) > MOST_EVENTS:
            raise MeasuredError(f"got more than {MOST_EVENTS} events, expected those of a group")

    def timed(self, cells: Cells) -> None:
        """How long each hardware thread was counted."""
        if not self.runtime_s:
            self.runtime_s = {cpu: number(cell) for cpu, cell in cells.items()}

    @property
    def longest_s(self) -> float:
        """0 where the file does not say."""
        return max((s for s in self.runtime_s.values() if not math.isnan(s)), default=0.0)

    @property
    def of_cores(self) -> dict[str, Cells]:
        """Events that cores count."""
        return {
            event: cells
            for event, (register, cells) in self.events.items()
            if register.startswith(_OF_CORE)
        }

    @property
    def at_work(self) -> tuple[int, ...]:
        """Hardware threads whose first event, instructions or clocks, says that they computed."""
        first = next(iter(self.of_cores.values()), {})
        used = {cpu: value for cpu, cell in first.items() if not math.isnan(value := number(cell))}
        return at_work(used)

    def count(self, cells: Cells, cpus: Collection[int]) -> Count:
        """Over these hardware threads; NaN where none counted it."""
        rows = [
            Count(value, self.runtime_s.get(cpu, math.nan))
            for cpu, cell in cells.items()
            if cpu in cpus and not math.isnan(value := number(cell))
        ]
        return total(rows) if rows else Count(math.nan)


def measured_of(
    form: str, tables: Mapping[tuple[str, str], Table], told: tuple[str, ...] = ()
) -> Measured:
    """`tables`: (region, group) → table; the region is empty of a whole run. `told`: what else the
    file shows. Raises `MeasuredError` where there is no event.
    """
    regions = {region for region, _ in tables}
    chosen = max(regions, key=lambda name: _region_s(tables, name), default="")
    some = [table for (region, _), table in tables.items() if region == chosen]
    counts: dict[str, list[Count]] = {}
    failed: dict[str, str] = {}
    for table in some:
        cpus = table.at_work
        for event, cells in table.of_cores.items():
            count = table.count(cells, cpus)
            if math.isnan(count.value):
                failed.setdefault(event, "no count")
            else:
                counts.setdefault(event, []).append(count)
        for event in table.events.keys() - table.of_cores.keys():
            failed.setdefault(event, "of no single core")
    if not counts and not failed:
        raise MeasuredError(
            f"got {form} without a table of events, expected one: "
            "`likwid-perfctr -C CPUS -g GROUP -o FILE.csv PROGRAM`"
        )
    cpus = max((table.at_work for table in some), key=len, default=())
    several = len(regions) > 1
    of_region = (f"of {len(regions)} regions {chosen}, which took longest",) if several else ()
    return Measured(
        form,
        {event: total(rows) for event, rows in counts.items()},
        {event: why for event, why in failed.items() if event not in counts},
        threads=len(cpus),
        cpus=cpus,
        shows=(*told, *of_region),
    )


def _region_s(tables: Mapping[tuple[str, str], Table], name: str) -> float:
    return math.fsum(table.longest_s for (region, _), table in tables.items() if region == name)
