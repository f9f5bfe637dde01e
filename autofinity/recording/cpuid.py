"""TLBs and inclusion of caches from CPUID (Intel SDM vol. 2A; AMD APM vol. 3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

type Cpuid = Callable[[int, int], tuple[int, int, int, int] | None]
"""Leaf and subleaf → EAX, EBX, ECX, EDX."""

_AMD_L1, _AMD_L2, _AMD_CACHES = 0x80000005, 0x80000006, 0x8000001D
_INTEL_CACHES, _INTEL_TLBS = 0x4, 0x18
_AMD_WAYS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 8: 16, 10: 32, 11: 48, 12: 64, 13: 96, 14: 128}
_FULLY = 0
"""Ways of a fully associative TLB, as in machine files."""


@dataclass(frozen=True, slots=True)
class TlbShape:
    """Entries and ways of the data TLBs; `l2_entries` 0: no second level, or none is reported."""

    l1_entries: int
    l1_ways: int
    l2_entries: int
    l2_ways: int
    l1_large_entries: int
    l2_large_entries: int
    """Entries for large pages; 0: they share the array of the small pages."""


def tlb_shape(cpuid: Cpuid) -> TlbShape | None:
    """Shape of the TLBs; None where CPUID does not report it: other processors, hypervisors that
    hide it.
    """
    vendor = cpuid(0, 0)
    if vendor is None:
        return None
    name = b"".join(part.to_bytes(4, "little") for part in (vendor[1], vendor[3], vendor[2]))
    if name in (b"AuthenticAMD", b"HygonGenuine"):
        return _amd(cpuid)
    return _intel(cpuid) if name == b"GenuineIntel" else None


def _amd(cpuid: Cpuid) -> TlbShape | None:
    first, second = cpuid(_AMD_L1, 0), cpuid(_AMD_L2, 0)
    if first is None or second is None:
        return None
    l1_entries, l1_ways = first[1] >> 16 & 0xFF, first[1] >> 24
    l2_entries, l2_ways = second[1] >> 16 & 0xFFF, _AMD_WAYS.get(second[1] >> 28, 0)
    if not l1_entries:
        return None
    if not l2_ways or l2_entries % l2_ways:
        l2_ways = _divisor(l2_entries)
    return TlbShape(
        l1_entries,
        _FULLY if l1_ways == 0xFF else l1_ways,
        l2_entries,
        max(1, l2_ways),
        first[0] >> 16 & 0xFF or l1_entries,
        0 if second[0] >> 16 & 0xFFF == l2_entries else second[0] >> 16 & 0xFFF,
    )


def _intel(cpuid: Cpuid) -> TlbShape | None:
    small: dict[int, tuple[int, int]] = {}
    large: dict[int, int] = {}
    top = cpuid(_INTEL_TLBS, 0)
    for subleaf in range((top[0] if top else -1) + 1):
        entry = cpuid(_INTEL_TLBS, subleaf)
        if entry is None:
            break
        _, b, sets, d = entry
        kind, level, ways = d & 0x1F, d >> 5 & 0x7, b >> 16
        # Data, unified and load TLBs; those of instructions and of stores are left out.
        if kind not in (1, 3, 4):
            continue
        if b & 1:
            small[level] = (ways * sets, _FULLY if d >> 8 & 1 else ways)
        if b & 2:
            large[level] = ways * sets
    if 1 not in small:
        return None
    (l1_entries, l1_ways), (l2_entries, l2_ways) = small[1], small.get(2, (0, 1))
    shared = large.get(2, 0) == l2_entries
    return TlbShape(
        l1_entries,
        l1_ways,
        l2_entries,
        l2_ways or _divisor(l2_entries),
        large.get(1, l1_entries),
        # Without entries for large pages the value is one, the least in a machine file.
        0 if shared else max(1, large.get(2, 0)),
    )


def _divisor(entries: int) -> int:
    """The largest number of ways up to 16 that divides `entries`."""
    return max(ways for ways in range(1, 17) if entries % ways == 0)


def inclusive(cpuid: Cpuid, level: int) -> bool | None:
    """Whether the cache of a level holds all contents of the inner ones; None where CPUID does not
    report it.
    """
    for leaf in (_INTEL_CACHES, _AMD_CACHES):
        for subleaf in range(8):
            entry = cpuid(leaf, subleaf)
            if entry is None or not entry[0] & 0x1F:
                break
            # Types 1 and 3: data and unified.
            if entry[0] & 0x1F != 2 and entry[0] >> 5 & 0x7 == level:
                return bool(entry[3] & 2)
    return None
