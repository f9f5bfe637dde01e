"""What perf is asked for to hear, with the address, of a program's accesses to memory.

    PAGE_FAULTS      everywhere: the kernel's own event, one record each
    PEBS, Intel      `mem-loads` and `mem-stores` of a core PMU: loads that took 30 clocks, stores
    IBS op, AMD      every so many micro-operations; those that are no access have no address

The PMU's events are taken from sysfs as the kernel names them there. No source of the data is asked
for: then Sapphire Rapids and later take loads without the event `mem-loads-aux` beside them.
Sources: perf_event_open(2); Documentation/ABI of event_source/devices (events, format); perf-mem(1)
for the 30 clocks; perf-amd-ibs(1): IBS tells users from the kernel by `swfilt` only, where there is
one, and else needs CAP_PERFMON.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf import explain, open_event

DEVICES: Final = Path("/sys/bus/event_source/devices")
_LOAD_CLOCKS: Final = 30
_PER_S: Final = 1000
"""Samples of a thread and event: 100 between two looks a tenth of a second apart, at 1 µs each."""
_CORE_PMUS = ("cpu", "cpu_core", "cpu_atom", "cpu_lowpower")


@dataclass(frozen=True, slots=True)
class AccessEvent:
    """One event whose records have addresses."""

    name: str
    """As reports call it."""
    encoding: Encoding
    config1: int = 0
    config2: int = 0
    per_s: int = 0
    """Samples a second and thread that the kernel aims at; 0: each event is one."""
    precise: bool = False
    """Whether the address is that of the very instruction (PEBS)."""
    users_only: bool = True

    def open(
        self,
        tid: int,
        sample_type: int,
        *,
        cpu: int = -1,
        following: bool = False,
        wake_bytes: int = 0,
    ) -> int:
        """Descriptor, on thread `tid` (0: the caller). `following`: from its next exec on, with
        the threads and children that it begins, which are records, too. Raises `OSError`.
        """
        return open_event(
            self.encoding,
            tid,
            cpu=cpu,
            inherit=following,
            disabled=following,
            at_exec=following,
            with_births=following,
            sample_period=self.per_s or 1,
            by_frequency=self.per_s > 0,
            sample_type=sample_type,
            wake_bytes=wake_bytes,
            config1=self.config1,
            config2=self.config2,
            precise=self.precise,
            users_only=self.users_only,
        )


PAGE_FAULTS: Final = AccessEvent("page faults", Encoding(1, 2))


def pmu_events(devices: Path = DEVICES) -> tuple[AccessEvent, ...]:
    """Events of this machine's PMUs that sample accesses; empty: it has none. A machine of two core
    kinds has them twice.
    """
    found: list[AccessEvent] = []
    for pmu in _CORE_PMUS:
        for event, label in (("mem-loads", "loads"), ("mem-stores", "stores")):
            words = _words(devices / pmu / "events" / event)
            if not words:
                continue
            if "ldlat" in words:
                words["ldlat"] = _LOAD_CLOCKS
            config = _placed(devices / pmu, words)
            kind = _number(devices / pmu / "type")
            if config is not None and kind is not None:
                found.append(
                    AccessEvent(
                        f"{label} sampled by {pmu}",
                        Encoding(kind, config["config"]),
                        config["config1"],
                        config["config2"],
                        per_s=_PER_S,
                        precise=True,
                    )
                )
    ibs = devices / "ibs_op"
    kind = _number(ibs / "type")
    if kind is not None:
        filtered = _placed(ibs, {"swfilt": 1}) if (ibs / "format" / "swfilt").exists() else None
        found.append(
            AccessEvent(
                "accesses sampled by ibs_op",
                Encoding(kind, 0),
                config2=filtered["config2"] if filtered else 0,
                per_s=10 * _PER_S,  # of micro-operations, of which a third are accesses
                users_only=filtered is not None,
            )
        )
    return tuple(found)


def usable_events(devices: Path = DEVICES) -> tuple[tuple[AccessEvent, ...], str]:
    """The PMU's events, if the kernel lets us have them; else none, and why."""
    events = pmu_events(devices)
    if not events:
        return (), "no PMU named ibs_op, or cpu with mem-loads"
    for event in events:
        try:
            os.close(event.open(0, _ADDRESS))
        except OSError as error:
            return (), f"{event.name}: {explain(error.errno or 0)}"
    return events, ""


_ADDRESS: Final = 1 << 3


def _words(path: Path) -> dict[str, int]:
    """`event=0xcd,umask=0x1,ldlat=3` as numbers; empty when there is no such event."""
    try:
        parts = path.read_text().strip().split(",")
        pairs = (part.partition("=") for part in parts if part)
        return {name: int(value, 0) if value else 1 for name, _, value in pairs}
    except (OSError, ValueError):
        return {}


def _placed(pmu: Path, words: Mapping[str, int]) -> dict[str, int] | None:
    """The words where the PMU's formats (`config1:0-15`) want them; None: it does not know one."""
    found = {"config": 0, "config1": 0, "config2": 0}
    for name, value in words.items():
        try:
            where, _, bits = (pmu / "format" / name).read_text().strip().partition(":")
            if where not in found:
                return None
            left = value
            for part in bits.split(","):
                low, _, high = part.partition("-")
                width = int(high or low) - int(low) + 1
                found[where] |= (left & ((1 << width) - 1)) << int(low)
                left >>= width
        except (OSError, ValueError):
            return None
    return found


def _number(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None
