"""perf events whose records have the addresses of a program's accesses to memory.

    PAGE_FAULTS      everywhere: the kernel's own event, one record each
    PEBS, Intel      `mem-loads` and `mem-stores` of a core PMU: loads that took 30 clocks, stores
    IBS op, AMD      every so many micro-operations; those that are no access have no address
    SPE, Arm         loads and stores among every so many operations; the hardware writes them to
                     memory by itself (`spe_ring`)

The PMU's events are taken from sysfs as the kernel names them there. The source of the data is not
requested: then Sapphire Rapids and later accept loads without the event `mem-loads-aux` beside
them.
Sources: perf_event_open(2); Documentation/ABI of event_source/devices (events, format); perf-mem(1)
for the 30 clocks; perf-amd-ibs(1): IBS separates user from kernel mode only by `swfilt`, and needs
CAP_PERFMON where there is no `swfilt`; perf-arm-spe(1) and drivers/perf/arm_spe_pmu.c: SPE takes
only periods, in operations, and one event for each thread or CPU; each PMU belongs to some CPUs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf_event import Sampling, open_event
from autofinity.linux.pmus import CORE_KINDS, event_words, placed, pmu_cpus, pmu_type
from autofinity.model.topology import OsIndex

_LOAD_CLOCKS: Final = 30
_PER_S: Final = 1000
"""Samples per second of a thread and event: 100 between two looks a tenth of a second apart."""
_SPE_PERIOD: Final = 300_000
"""Operations from one sample to the next: ten samples a millisecond at one operation a clock of
3 GHz.
"""
NO_ACCESS_PMU: Final = "no PMU here samples accesses (AMD ibs_op, Arm arm_spe_0, Intel mem-loads)"
"""Reason why accesses cannot be sampled where `pmu_events` finds none."""
_SPE_WORDS: Final = {"ts_enable": 1, "load_filter": 1, "store_filter": 1, "jitter": 1}
TID_TIME_ADDR_CPU: Final = 0b1000_1110
"""`perf_event_attr.sample_type`: the fields of each record."""


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """One event whose records have addresses."""

    name: str
    """Name in reports."""
    encoding: Encoding
    config1: int = 0
    config2: int = 0
    per_s: int = 0
    """Samples per second and thread that the kernel aims at; 0: the event uses `period`."""
    period: int = 1
    """Events from one sample to the next."""
    precise: bool = False
    """Whether the address belongs to the very instruction (PEBS)."""
    users_only: bool = True
    cpus: frozenset[OsIndex] | None = None
    """CPUs that have the event; None: all."""
    spe: bool = False
    """Whether the samples are packets of Arm's SPE, not records of the kernel."""

    def open(self, tid: int, *, cpu: int = -1, following: bool = False, wake_bytes: int = 0) -> int:
        """Open the event on thread `tid` (0: the caller), disabled; return its descriptor.

        With `following`, the event waits for the thread's next exec, and then includes the threads
        and children that the thread begins; their beginnings are records, too. Raises `OSError`.
        """
        return open_event(
            self.encoding,
            tid,
            cpu=cpu,
            inherit=following,
            disabled=True,
            at_exec=following,
            sampling=Sampling(
                period=self.per_s or self.period,
                content=TID_TIME_ADDR_CPU,
                by_frequency=self.per_s > 0,
                wake_bytes=wake_bytes,
                with_births=following,
                config1=self.config1,
                config2=self.config2,
                precise=self.precise,
                users_only=self.users_only,
                names_all=self.spe,
                with_switches=self.spe and following,
            ),
        )


PAGE_FAULTS: Final = AccessEvent("page faults", Encoding(1, 2))


def pmu_events(devices: Path) -> tuple[AccessEvent, ...]:
    """Events of this machine's PMUs that sample accesses; empty where there are none.

    A machine of two core kinds has each event twice.
    """
    return (*_pebs(devices), *_ibs(devices), *_spe(devices))


def _pebs(devices: Path) -> Iterator[AccessEvent]:
    for pmu in ("cpu", *CORE_KINDS):
        kind = pmu_type(devices / pmu)
        for event, label in (("mem-loads", "loads"), ("mem-stores", "stores")):
            words = event_words(devices / pmu, event)
            if "ldlat" in words:
                words["ldlat"] = _LOAD_CLOCKS
            config = placed(devices / pmu, words)
            if words and config is not None and kind is not None:
                yield AccessEvent(
                    f"{label} sampled by {pmu}",
                    Encoding(kind, config["config"]),
                    config["config1"],
                    config["config2"],
                    per_s=_PER_S,
                    precise=True,
                )


def _ibs(devices: Path) -> Iterator[AccessEvent]:
    ibs = devices / "ibs_op"
    kind = pmu_type(ibs)
    if kind is not None:
        filtered = placed(ibs, {"swfilt": 1})
        yield AccessEvent(
            "accesses sampled by ibs_op",
            Encoding(kind, 0),
            config2=filtered["config2"] if filtered else 0,
            per_s=10 * _PER_S,  # of micro-operations, of which a third are accesses
            users_only=filtered is not None,
        )


def _spe(devices: Path) -> Iterator[AccessEvent]:
    for pmu in sorted(devices.glob("arm_spe_*")):
        config, kind, cpus = placed(pmu, _SPE_WORDS), pmu_type(pmu), pmu_cpus(pmu)
        if config is not None and kind is not None and cpus is not None:
            yield AccessEvent(
                f"accesses sampled by {pmu.name}",
                Encoding(kind, config["config"]),
                config["config1"],
                config["config2"],
                period=_SPE_PERIOD,
                cpus=cpus,
                spe=True,
            )
