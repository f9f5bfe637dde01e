"""Caches and TLBs of a core, or of a module, as lists in order of use: slow, and short enough to be
checked by reading.

One core shares no line, so that a line is only clean or modified. Sets are chosen by the low bits
of the line, which holds for the simulator too as long as no level has more sets than a page has
lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any


class Lru:
    """Sets of `ways` keys, each set in order of use, the latest last."""

    def __init__(self, sets: int, ways: int) -> None:
        self._sets: list[dict[int, bool]] = [{} for _ in range(sets)]
        self._ways = ways

    def _set(self, key: int) -> dict[int, bool]:
        return self._sets[key % len(self._sets)]

    def __contains__(self, key: int) -> bool:
        return key in self._set(key)

    def marked(self, key: int) -> bool:
        return self._set(key)[key]

    def take(self, key: int) -> bool:
        """Remove a key. Returns its mark."""
        return self._set(key).pop(key)

    def mark(self, key: int, mark: bool) -> None:
        """Change the mark of a key without using it."""
        self._set(key)[key] = mark

    def use(self, key: int, mark: bool = False) -> tuple[int, bool] | None:
        """Put a key at the end of its set; the key keeps an earlier mark. Returns the key and mark
        that are replaced.
        """
        chosen = self._set(key)
        chosen[key] = chosen.pop(key, False) or mark
        if len(chosen) <= self._ways:
            return None
        oldest = next(iter(chosen))
        return oldest, chosen.pop(oldest)


class ReferenceCore:
    """L1, L2 and LLC, (sets, ways) each, all inclusive or all exclusive of one another."""

    def __init__(self, l1: tuple[int, int], l2: tuple[int, int], llc: tuple[int, int]) -> None:
        self.l1, self.l2, self.llc = Lru(*l1), Lru(*l2), Lru(*llc)
        self.counts: Counter[str] = Counter()

    def access(self, line: int, store: bool) -> None:
        """One load or store of a line."""
        if line in self.l1:
            self.l1.use(line, store)
            return
        self.counts["data_cache_misses"] += 1
        if line in self.l2:
            self.counts["data_cache_refills_from_l2"] += 1
        else:
            self.counts["llc_hits" if line in self.llc else "llc_misses"] += 1
        self._fill(line, store)

    def _fill(self, line: int, store: bool) -> None:
        """Bring a line that is not in the L1 into it."""
        raise NotImplementedError

    def _out_of_llc(self, line: int, dirty: bool) -> None:
        self.counts["llc_evictions"] += 1
        self.counts["llc_writebacks"] += dirty
        self.counts["dram_writes"] += dirty

    def _out_of_l2(self, dirty: bool) -> None:
        self.counts["l2_evictions"] += 1
        self.counts["l2_writebacks"] += dirty

    def _out_of_l1(self, dirty: bool) -> None:
        kind = "modified" if dirty else "clean"
        self.counts[f"{kind}_data_cache_lines_evicted"] += 1


class ExclusiveCore(ReferenceCore):
    """A line is in one level only; a line that one level evicts goes to the next."""

    def _fill(self, line: int, store: bool) -> None:
        source = next((level for level in (self.l2, self.llc) if line in level), None)
        dirty = source is not None and source.take(line)
        if (out := self.l1.use(line, dirty or store)) is None:
            return
        self._out_of_l1(out[1])
        if (out := self.l2.use(*out)) is None:
            return
        self._out_of_l2(out[1])
        if (out := self.llc.use(*out)) is not None:
            self._out_of_llc(*out)


class InclusiveCore(ReferenceCore):
    """A level holds all lines that are nearer to the core; a line that it evicts leaves these, too.

    A line that the L2 has modified is modified in the L1, too (state M is the core's); with
    `clean_refills` the line is clean there until the next store.
    """

    clean_refills = False

    def _fill(self, line: int, store: bool) -> None:
        dirty = False
        if line in self.l2:
            self.l2.use(line)
            dirty = not self.clean_refills and self.l2.marked(line)
        else:
            if (out := self.llc.use(line)) is not None:
                victim, written = out
                written |= victim in self.l2 and self.l2.take(victim)
                written |= victim in self.l1 and self.l1.take(victim)
                self._out_of_llc(victim, written)
            if (out := self.l2.use(line)) is not None:
                victim, written = out
                written |= victim in self.l1 and self.l1.take(victim)
                self._out_of_l2(written)
                if written:
                    self.llc.mark(victim, True)
        if (out := self.l1.use(line, store or dirty)) is not None:
            victim, dirty = out
            self._out_of_l1(dirty)
            if dirty:
                self.l2.mark(victim, True)


class Tags:
    """An L1 as lists of [line, state] in order of use, the latest first. "I" keeps the tag of an
    invalidated line; line -1 is an empty way.
    """

    def __init__(self, sets: int, ways: int) -> None:
        self._sets = [[[-1, "I"] for _ in range(ways)] for _ in range(sets)]

    def entry(self, line: int) -> list[Any] | None:
        found = (way for way in self._sets[line % len(self._sets)] if way[0] == line)
        return next(found, None)

    def state(self, line: int) -> str:
        """ "I" without a valid copy."""
        found = self.entry(line)
        return "I" if found is None else found[1]

    def use(self, line: int, state: str) -> tuple[int, str]:
        """Put the line first, in the way of its tag, the last invalid way or the last of all.
        Returns the earlier content of that way.
        """
        ways = self._sets[line % len(self._sets)]
        invalid = [way for way in ways if way[1] == "I"]
        chosen = self.entry(line) or (invalid or ways)[-1]
        out = chosen[0], chosen[1]
        del ways[next(i for i, way in enumerate(ways) if way is chosen)]
        ways.insert(0, [line, state])
        return out


class ReferenceModule:
    """Cores with an L1 each that share an inclusive L2 and an LLC; (sets, ways) of each.

    There are no other modules, so the L2 may write every line it has; its marks are dirty lines.
    `counts` are by core.
    """

    def __init__(
        self,
        cores: int,
        l1: tuple[int, int],
        l2: tuple[int, int],
        llc: tuple[int, int],
        inclusive_llc: bool,
    ) -> None:
        self.l1s = [Tags(*l1) for _ in range(cores)]
        self.l2, self.llc = Lru(*l2), Lru(*llc)
        self.inclusive_llc = inclusive_llc
        self.counts: list[Counter[str]] = [Counter() for _ in range(cores)]

    def access(self, core: int, line: int, store: bool) -> None:
        """One load or store of a line."""
        mine, count = self.l1s[core], self.counts[core]
        state = mine.state(line)
        if state != "I":
            if store and state == "S":
                count["upgrades"] += 1
                self._invalidate_others(core, line)
            mine.use(line, "M" if store else state)
            return
        count["data_cache_misses"] += 1
        count["coherence_misses"] += mine.entry(line) is not None
        if line in self.l2:
            count["data_cache_refills_from_l2"] += 1
            self.l2.use(line)
            others = self._invalidate_others(core, line) if store else self._downgrade(core, line)
            state = "M" if self.l2.marked(line) else "E"
            state = "M" if store else "S" if others else state
        else:
            dirty = self._fetch(core, line)
            state = "M" if dirty or store else "E"
            if (out := self.l2.use(line, state == "M")) is not None:
                self._out_of_l2(core, *out)
        victim, had = mine.use(line, state)
        if victim < 0:
            return
        kind = {"I": "invalid", "M": "modified"}.get(had, "clean")
        count[f"{kind}_data_cache_lines_evicted"] += 1
        if had == "M":
            self.l2.mark(victim, True)

    def _copies(self, core: int, line: int) -> list[tuple[int, list[Any]]]:
        """Valid copies in the other L1s: core, entry."""
        entries = [(other, l1.entry(line)) for other, l1 in enumerate(self.l1s) if other != core]
        return [(other, entry) for other, entry in entries if entry and entry[1] != "I"]

    def _invalidate_others(self, core: int, line: int) -> bool:
        copies = self._copies(core, line)
        for other, entry in copies:
            self.counts[core]["invalidations_sent"] += 1
            self.counts[other]["invalidations_received"] += 1
            if entry[1] == "M":
                self.l2.mark(line, True)
            entry[1] = "I"
        return bool(copies)

    def _downgrade(self, core: int, line: int) -> bool:
        copies = self._copies(core, line)
        for other, entry in copies:
            self.counts[other]["downgrades_received"] += entry[1] in "ME"
            if entry[1] == "M":
                self.l2.mark(line, True)
            entry[1] = "S"
        return bool(copies)

    def _fetch(self, core: int, line: int) -> bool:
        """Get the line from the LLC or memory. Returns whether the line is dirty."""
        self.counts[core]["llc_hits" if line in self.llc else "llc_misses"] += 1
        if not self.inclusive_llc:
            return line in self.llc and self.llc.take(line)
        if (out := self.llc.use(line)) is not None:
            victim, dirty = out
            if victim in self.l2:
                written, copies = self._drop(victim)
                dirty |= self.l2.take(victim) or written
                self.counts[core]["back_invalidations"] += max(1, copies)
            self._out_of_llc(core, dirty)
        return False

    def _drop(self, line: int) -> tuple[bool, int]:
        """Take the line from all L1s. Returns whether one had stored to it, and the number of
        copies.
        """
        copies = self._copies(-1, line)
        written = any(entry[1] == "M" for _, entry in copies)
        for _, entry in copies:
            entry[1] = "I"
        return written, len(copies)

    def _out_of_l2(self, core: int, line: int, dirty: bool) -> None:
        count = self.counts[core]
        count["back_invalidations"] += len(self._copies(core, line))
        dirty |= self._drop(line)[0]
        if (own := self.l1s[core].entry(line)) is not None:
            own[0] = -1
        count["l2_evictions"] += 1
        count["l2_writebacks"] += dirty
        if self.inclusive_llc:
            self.llc.mark(line, self.llc.marked(line) or dirty)
        elif (out := self.llc.use(line, dirty)) is not None:
            self._out_of_llc(core, out[1])

    def _out_of_llc(self, core: int, dirty: bool) -> None:
        for event in ("llc_evictions", *["llc_writebacks", "dram_writes"] * dirty):
            self.counts[core][event] += 1


def reference_tlb(l1: tuple[int, int], l2: tuple[int, int], pages: Iterable[int]) -> Counter[str]:
    """Counts of two levels of (sets, ways)."""
    first, second = Lru(*l1), Lru(*l2)
    counts: Counter[str] = Counter()
    for page in pages:
        if page not in first:
            counts["dtlb_misses"] += 1
            counts["l2_tlb_hits" if page in second else "page_walks"] += 1
            second.use(page)
        first.use(page)
    return counts
