"""What a figure of the mapping papers shows, as data: what is run and which quantity is drawn.

Every study is of one kind below; `paper_figures` says which figure is which study, `report` draws
them. None knows a machine or a program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from autofinity.evaluation.comparison_summary import FIGURES
from autofinity.mechanisms.registry import BASELINE
from autofinity.model.mechanism_run import MechanismRun

SHARES: Mapping[str, Callable[[MechanismRun], float]] = {
    "overhead": lambda run: 100 * run.overhead,
    "tlb_miss_rate": lambda run: 100 * run.tlb_miss_rate,
}
"""Quantities that are drawn as they are, in percent; those of `FIGURES` are ratios to the OS's."""

LABELS: Mapping[str, str] = {
    "time": "time / time under the OS",
    "llc_misses": "LLC misses / those under the OS",
    "mpki": "LLC MPKI / that under the OS",
    "l2_mpki": "L2 MPKI / that under the OS",
    "traffic": "interconnect traffic / that under the OS",
    "cache_to_cache": "cache-to-cache transfers / those under the OS",
    "energy": "energy / that under the OS",
    "overhead": "% of the threads' time",
    "tlb_miss_rate": "% of the translations that no TLB had",
}


@dataclass(frozen=True, slots=True)
class Bars:
    """A quantity of each program under each mechanism, and the mean over programs."""

    quantity: str
    mechanisms: tuple[str, ...]
    baseline: str = BASELINE
    """What ratios are to."""

    @property
    def relative(self) -> bool:
        """Whether it is a ratio to the baseline's."""
        return self.quantity in FIGURES


@dataclass(frozen=True, slots=True)
class Quantities:
    """Means over programs of several quantities under one mechanism."""

    mechanism: str
    quantities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OperationCosts:
    """What a mechanism's operations take: shares of the threads' time, or one of them in ns."""

    mechanism: str
    of: Literal["run", "operation"]


@dataclass(frozen=True, slots=True)
class FaultRates:
    """Time against the number of extra page faults, in % of the pages."""

    mechanism: str
    oracle: str
    percents: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class PageSizes:
    """Time with each page size, against the operating system's with the first."""

    mechanism: str
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Two programs one after the other and at the same time."""

    pairs: tuple[tuple[str, str], ...]
    mechanisms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matrices:
    """The sharing matrix of each program, as a source sees it (`detect.scaled.SCALED`, "trace")."""

    source: str


@dataclass(frozen=True, slots=True)
class Phases:
    """Sharing matrices of parts of a program's run: name → shares of the work from and to."""

    source: str
    parts: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Exclusivity:
    """Average exclusivity (kMAF'14, equation 4) of each program, by bytes of a page."""

    page_bytes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExclusivityShares:
    """Share of each program's pages by their exclusivity, rounded to 10 %."""


@dataclass(frozen=True, slots=True)
class SharingMetrics:
    """Heterogeneity and amount of sharing (kMAF'14, equations 1 and 2) of each program."""


type ComparisonStudy = Bars | Quantities | OperationCosts | FaultRates | PageSizes | SideBySide
type SharingStudy = Matrices | Phases | Exclusivity | ExclusivityShares | SharingMetrics
