"""One core's caches and TLBs as lists in order of use: slow, and short enough to be seen right.

No line is shared, so a line is only clean or modified. Sets are taken by the low bits of the line,
which holds for the simulator too as long as no level has more sets than a page has lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


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
        """Remove a key; returns its mark."""
        return self._set(key).pop(key)

    def mark(self, key: int, mark: bool) -> None:
        """Change the mark of a key without using it."""
        self._set(key)[key] = mark

    def use(self, key: int, mark: bool = False) -> tuple[int, bool] | None:
        """Put a key at the end of its set, where it keeps a mark it had; what falls out."""
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
        """Bring a line into the L1 that is not there."""
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
    """A line is in one level only; what falls out of one goes to the next."""

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
    """A level holds all that is nearer to the core; what falls out of it leaves them too.

    A line that the L2 has modified is modified in the L1, too (state M is the core's); with
    `clean_refills` it is clean there until it is stored to.
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


def reference_tlb(l1: tuple[int, int], l2: tuple[int, int], pages: Iterable[int]) -> Counter[str]:
    """Two levels of (sets, ways)."""
    first, second = Lru(*l1), Lru(*l2)
    counts: Counter[str] = Counter()
    for page in pages:
        if page not in first:
            counts["dtlb_misses"] += 1
            counts["l2_tlb_hits" if page in second else "page_walks"] += 1
            second.use(page)
        first.use(page)
    return counts
