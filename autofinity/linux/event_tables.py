"""Neutral event names → the kernel's encodings, as data for each CPU family.

events/generic.toml ─┐
events/<family>.toml ┴─► EventTable of this CPU (a family's entry wins over the generic one, and
                         an event that it calls absent has no generic one)

A count that no single event of a family gives may be the sum of several events: `config` and
`libpfm` of its entry are then lists. A neutral name means the same on every CPU as on the simulator
(`autofinity/sim/events.py`); a family without an event of that meaning does not have the name.

A family's `names` are what perf, likwid and others call single events: a raw code, or the neutral
name that means the same. `parts` says of an event that each of its counts is of one bit of the unit
mask alone, so that events of some bits add up to one of all (`event_names`).

Machines of two core kinds have a PMU for each; a generic event then counts on the first kind only,
unless the event names the PMU in the upper half of its config (perf_event_open(2), extended types).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from autofinity.linux.pmus import CORE_KINDS, DEVICES, pmu_type
from autofinity.model.cpu import Cpu
from autofinity.model.errors import LinuxError
from autofinity.model.ratios import CROSS_CORE_COUNTERS

_FOLDER = Path(__file__).with_name("events")

# `perf_type_id` of linux/perf_event.h.
_TYPES = {"hardware": 0, "software": 1, "hw_cache": 3, "raw": 4}


@dataclass(frozen=True, slots=True)
class Encoding:
    """`type` and `config` of `perf_event_attr`; `libpfm` names the source of a raw code."""

    type: int
    config: int
    libpfm: str = ""
    also: tuple[Encoding, ...] = ()
    """Further events, whose counts are added."""
    parts: bool = False
    """Whether each count is of one bit of the unit mask alone."""

    @property
    def events(self) -> tuple[Encoding, ...]:
        """The events to open, one by one; their counts are added."""
        return (replace(self, also=()), *self.also)


type EventTable = Mapping[str, Encoding]


def this_cpu(cpuinfo: Path = Path("/proc/cpuinfo")) -> Cpu:
    """Vendor, family and model of the first CPU. Never raises an error."""
    found: dict[str, str] = {}
    try:
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break
                name, _, value = line.partition(":")
                found[name.strip()] = value.strip()
    except OSError:
        pass
    if "CPU implementer" in found:
        return Cpu(
            found["CPU implementer"],
            _number(found.get("CPU architecture", "")),
            _number(found.get("CPU part", "")),
        )
    return Cpu(
        found.get("vendor_id", ""),
        _number(found.get("cpu family", "")),
        _number(found.get("model", "")),
    )


def event_table(cpu: Cpu, folder: Path = _FOLDER) -> EventTable:
    """Every neutral name that this CPU supports. Raises `LinuxError` on a damaged table."""
    generic: dict[str, Encoding] = {}
    special: dict[str, Encoding] = {}
    absent: set[str] = set()
    for path in sorted(folder.glob("*.toml")):
        table = _read(path)
        if "vendor" not in table:
            generic.update(_encodings(path, table))
        elif _fits(table, cpu):
            special.update(_encodings(path, table))
            absent |= _absent(table)
    found = {name: each for name, each in generic.items() if name not in absent}
    return MappingProxyType(found | special)


def event_spellings(cpu: Cpu) -> Mapping[str, int | str]:
    """Other tools' names of single events of this CPU → raw code, or neutral name.

    Raises `LinuxError`.

    `libpfm` names of its raw events are among them, without the table.
    """
    found: dict[str, int | str] = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        table = _read(path)
        if "vendor" not in table or not _fits(table, cpu):
            continue
        for encoding in _encodings(path, table).values():
            for event in encoding.events:
                if event.libpfm:
                    found[event.libpfm.rpartition("::")[2]] = event.config
        names = table.get("names", {})
        assert isinstance(names, dict)
        found.update(names)
    return MappingProxyType(found)


def cross_core_events(table: EventTable) -> EventTable:
    """The part of a table that counts lines from other cores' caches."""
    return MappingProxyType({name: table[name] for name in CROSS_CORE_COUNTERS if name in table})


def core_pmus(devices: Path = DEVICES) -> tuple[int, ...]:
    """`perf_event_attr.type` of the PMU of each core kind; empty on a machine of one kind."""
    types = (pmu_type(devices / name) for name in CORE_KINDS)
    found = tuple(each for each in types if each is not None)
    return found if len(found) > 1 else ()


def on_pmu(encoding: Encoding, pmu: int) -> Encoding | None:
    """The event on the cores of one kind; None for a raw code, which belongs to one kind alone."""
    if encoding.type not in (_TYPES["hardware"], _TYPES["hw_cache"]):
        return None
    return replace(encoding, config=encoding.config | pmu << 32)


def cycles_beside(encoding: Encoding) -> Encoding:
    """Cycles on the PMU that an event counts on."""
    generic = encoding.type in (_TYPES["hardware"], _TYPES["hw_cache"])
    return Encoding(_TYPES["hardware"], encoding.config >> 32 << 32 if generic else 0)


def all_encodings() -> dict[tuple[str, str], Encoding]:
    """(table, neutral name) → encoding, over all tables: for checks against other sources."""
    found = {}
    for path in sorted(_FOLDER.glob("*.toml")):
        table = _read(path)
        for name, encoding in _encodings(path, table).items():
            found[str(table["name"]), name] = encoding
    return found


def _read(path: Path) -> dict[str, object]:
    import tomllib  # takes memory that a monitor without counters does not need

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LinuxError(
            f"the event table {path.name} cannot be read: {error}; reinstall autofinity"
        ) from error


def _fits(table: Mapping[str, object], cpu: Cpu) -> bool:
    families, models = table.get("families", []), table.get("models")
    assert isinstance(families, list)
    if table["vendor"] != cpu.vendor or cpu.family not in families:
        return False
    if not isinstance(models, list):
        return True
    # A pair of numbers is a range.
    ranges = (each if isinstance(each, list) else (each, each) for each in models)
    return any(low <= cpu.model <= high for low, high in ranges)


def _absent(table: Mapping[str, object]) -> set[str]:
    names = table.get("absent", [])
    assert isinstance(names, list)
    return set(names)


def _encodings(path: Path, table: Mapping[str, object]) -> dict[str, Encoding]:
    events = table.get("events", {})
    assert isinstance(events, dict)
    try:
        return {name: _encoding(entry) for name, entry in events.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise LinuxError(
            f"the event table {path.name} has an entry without a known type and a config: {error}"
        ) from error


def _encoding(entry: Mapping[str, Any]) -> Encoding:
    """One entry as an encoding. Raises `KeyError`, `TypeError` or `ValueError`."""
    kind, configs, sources = _TYPES[entry["type"]], entry["config"], entry.get("libpfm", "")
    if not isinstance(configs, list):
        return Encoding(kind, int(configs), sources, parts=bool(entry.get("parts", False)))
    first, *others = (
        Encoding(kind, int(config), source) for config, source in zip(configs, sources, strict=True)
    )
    return replace(first, also=tuple(others))


def _number(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        return 0
