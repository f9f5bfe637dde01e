"""Event names of other tools → neutral names: the event tables, backwards.

    cycles:u, LLC-loads, cpu/cache-misses/           perf's generic events
    mem_load_l3_miss_retired.remote_hitm             the vendor's names: perf's, likwid's, libpfm's
    cpu/event=0xd3,umask=0x4/, r4d3, raw 0x4d3       raw codes

A neutral name means the same wherever it came from: on a CPU whose table calls it another event,
or has it not at all, a name that sounds alike is not taken for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autofinity.linux.event_tables import Encoding, EventTable, event_spellings, event_table
from autofinity.linux.pmus import CORE_KINDS
from autofinity.model.cpu import Cpu

type Code = tuple[int, int]
"""`type` and `config` of `perf_event_attr`."""

_HARDWARE, _HW_CACHE, _RAW = 0, 3, 4
_ARM_EVENT_BITS = 0xFFFF
_UMASK = 0xFF00
_SET_BY_KERNEL = 1 << 16 | 1 << 17 | 1 << 20 | 1 << 22
"""User, system, interrupt and enable of x86's registers: libpfm's codes have some of them."""

_GENERIC = {
    "cycles": 0,
    "cpu-cycles": 0,
    "instructions": 1,
    "cache-references": 2,
    "cache-misses": 3,
}
_CACHES = {
    "L1-dcache": 0,
    "L1-icache": 1,
    "LLC": 2,
    "dTLB": 3,
    "iTLB": 4,
    "branch": 5,
    "node": 6,
}
_OPERATIONS = {"load": (0, "loads"), "store": (1, "stores"), "prefetch": (2, "prefetches")}

_MODIFIERS = re.compile(r":[ukhGHpPSDWIeb]{1,10}$")
_PMU_SUFFIX = re.compile(r" \[\w{1,40}\]$")
_ON_PMU = re.compile(r"(\w{1,60})/([^/]{0,400})/[ukhGHpPSDWIeb]{0,10}:?")
_RAW_CODE = re.compile(r"(?:raw 0x|r0x|r)([0-9a-f]{1,16})", re.IGNORECASE)
_TERM_VALUE = re.compile(r"0[xX][0-9a-fA-F]{1,16}|\d{1,20}")
_CORE_PMUS = re.compile(r"cpu|cpu_core|cpu_atom|cpu_lowpower|armv8_\w{1,40}|cpum_cf")
_NO_CONFIG = ("name", "period", "freq", "percore", "metric-id")
"""Terms of perf's that change nothing of what is counted."""
_UNLIKE_LETTERS = re.compile(r"[^a-z0-9]+")


def _cache_codes() -> dict[str, Code]:
    """`LLC-load-misses` and so on: id | operation << 8 | result << 16."""
    found = {}
    for cache, at in _CACHES.items():
        for one, (operation, many) in _OPERATIONS.items():
            found[f"{cache}-{many}"] = (_HW_CACHE, at | operation << 8)
            found[f"{cache}-{one}-misses"] = (_HW_CACHE, at | operation << 8 | 1 << 16)
    return found


_PERF_NAMES: Mapping[str, Code] = {
    **{name: (_HARDWARE, config) for name, config in _GENERIC.items()},
    **_cache_codes(),
}
_PERF_SPELLING: Mapping[Code, str] = {
    code: name for name, code in reversed(list(_PERF_NAMES.items()))
}
_PERF_PLAIN: Mapping[str, Code] = {name.lower(): code for name, code in _PERF_NAMES.items()}


@dataclass(frozen=True, slots=True)
class Event:
    """An event as a file calls it."""

    code: Code
    pmu: str
    """PMU of one kind of cores, on a machine that has several; else empty."""


class EventNames:
    """Event names of one CPU."""

    def __init__(self, cpu: Cpu) -> None:
        """Raises `LinuxError` on a damaged table."""
        self._arm = cpu.vendor.startswith("0x")
        self._amd = cpu.vendor == "AuthenticAMD"
        self.table: EventTable = event_table(cpu)
        generic = event_table(Cpu("", 0, 0))
        self._spelled: dict[str, Code] = {}
        for name, meant in event_spellings(cpu).items():
            if isinstance(meant, int):
                self._spelled[_plain(name)] = (_RAW, meant)
            else:
                self._spelled[_plain(name)] = (generic[meant].type, generic[meant].config)

    def event(self, spelled: str) -> Event | None:
        """The event of a name in a file; None: the name is not known."""
        text = _PMU_SUFFIX.sub("", spelled.strip())
        pmu, text = self._on_pmu(text)
        if pmu is None:
            return None
        code = self._code(_MODIFIERS.sub("", text))
        return None if code is None else Event(code, pmu if pmu in CORE_KINDS else "")

    def neutral(self, codes: Mapping[Code, float]) -> dict[str, tuple[float, tuple[Code, ...]]]:
        """Counters that follow from counts of these events, with the events of each."""
        found: dict[str, tuple[float, tuple[Code, ...]]] = {}
        for name, encoding in self.table.items():
            made_of = self._made_of(encoding, codes)
            if made_of:
                found[name] = (sum(codes[code] for code in made_of), made_of)
        return found

    def spelling(self, counter: str) -> tuple[str, ...]:
        """Events of `perf stat -e` that count it in user mode, as runs do; empty: none."""
        if counter not in self.table:
            return ()
        return tuple(f"{_spelling(event)}:u" for event in self.table[counter].events)

    def _on_pmu(self, text: str) -> tuple[str | None, str]:
        """PMU and what it is asked for; None: a PMU of no core."""
        found = _ON_PMU.fullmatch(text)
        if found is None:
            return "", text
        return (found[1] if _CORE_PMUS.fullmatch(found[1]) else None), found[2]

    def _code(self, text: str) -> Code | None:
        if "=" in text:
            return self._code_of_terms(text)
        if text.lower() in _PERF_PLAIN:
            return _PERF_PLAIN[text.lower()]
        if raw := _RAW_CODE.fullmatch(text):
            return self._raw(int(raw[1], 16))
        return self._spelled.get(_plain(text.rpartition("::")[2]))

    def _code_of_terms(self, text: str) -> Code | None:
        """`event=0xd3,umask=0x4`: where a PMU's formats want each (`/sys/…/cpu/format`)."""
        config = 0
        for term in text.split(","):
            name, _, value = term.partition("=")
            if name in _NO_CONFIG:
                continue
            amount = _value(value)
            placed = None if amount is None else self._placed(name, amount)
            if placed is None:
                return None
            config |= placed
        return self._raw(config)

    def _placed(self, name: str, value: int) -> int | None:
        if name == "config":
            return value
        if self._arm:
            return value & _ARM_EVENT_BITS if name == "event" else None
        if name == "event":
            return value & 0xFF | (value >> 8 & 0xF) << 32 if self._amd else value & 0xFF
        places = {"umask": (8, 0xFF), "edge": (18, 1), "any": (21, 1), "inv": (23, 1)}
        places["cmask"] = (24, 0xFF)
        if name in places:
            shift, mask = places[name]
            return (value & mask) << shift
        return None if value else 0

    def _raw(self, config: int) -> Code:
        if not self._arm:
            config &= ~_SET_BY_KERNEL
        return self._spelled.get(f"r{config:x}", (_RAW, config))

    def _made_of(self, encoding: Encoding, codes: Mapping[Code, float]) -> tuple[Code, ...]:
        wanted = tuple((event.type, event.config) for event in encoding.events)
        if all(code in codes for code in wanted):
            return wanted
        if not encoding.parts:
            return ()
        beside = encoding.config & ~_UMASK
        parts = {
            config & _UMASK
            for kind, config in codes
            if kind == _RAW and config & ~_UMASK == beside and config & _UMASK
        }
        cover = next(_covers(encoding.config & _UMASK, frozenset(parts)), ())
        return tuple((_RAW, beside | mask) for mask in cover)


def _covers(wanted: int, parts: frozenset[int]) -> Iterator[tuple[int, ...]]:
    """Parts that have each bit of `wanted` once, and no other bit."""
    if not wanted:
        yield ()
        return
    lowest = wanted & -wanted
    for part in sorted(parts, reverse=True):
        if part & lowest and not part & ~wanted:
            for others in _covers(wanted & ~part, parts):
                yield (part, *others)


def _spelling(event: Encoding) -> str:
    code = (event.type, event.config)
    return _PERF_SPELLING.get(code, f"r{event.config:x}")


def _plain(name: str) -> str:
    """A spelling without what tools part its words by."""
    return _UNLIKE_LETTERS.sub("_", name.lower()).strip("_")


def _value(text: str) -> int | None:
    """Value of a term; a term without one is 1. None: the value is no number."""
    if not text:
        return 1
    if not _TERM_VALUE.fullmatch(text):
        return None
    return int(text, 16) if text.lower().startswith("0x") else int(text)
