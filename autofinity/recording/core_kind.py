"""One kind of core: its clock, its caches and TLBs, and the number of misses that it overlaps."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from autofinity._core import measure
from autofinity.recording.assumed import Assumed
from autofinity.recording.bench import LINE_BYTES, Bench
from autofinity.recording.cpuid import TlbShape, inclusive, tlb_shape
from autofinity.recording.host_caches import HostCache
from autofinity.recording.rows import Reading, Row, idle, peak, row, text_row

type Tables = dict[str, list[Row]]
"""Name of a table → its rows; "" holds the keys before any table."""

_PAGE_BYTES = 4096
_ENOUGH_PAGES = 1 << 13
"""More pages than the TLBs of today hold: hypervisors report fewer entries than exist."""
_NOT_SAID = "E or {}: not said by CPUID"
_BUFFERS = 3
"""Number of buffers, of which the best counts: the place of a buffer's pages matters for caches
that others share."""


class CoreKind:
    """Measures the kind of core of `cpu`. `assumed` holds values that cannot be measured."""

    def __init__(
        self,
        cpu: int,
        caches: tuple[HostCache, ...],
        cores_of_l2: int,
        bench: Bench,
        assumed: Assumed,
    ) -> None:
        self._cpu = cpu
        self._caches = caches
        self._cores_of_l2 = cores_of_l2
        self._bench = bench
        self._assumed = assumed
        self.tables: Tables = {}
        self.llc: list[Row] = []
        self.dram_ns = Reading(0.0, 0.0)
        self._ghz = 1.0
        self._l2_ns = 0.0

    @property
    def l1(self) -> HostCache | None:
        """First level, if the kernel reports it."""
        return next((cache for cache in self._caches if cache.level == 1), None)

    @property
    def l2(self) -> HostCache | None:
        """Second level where it is not the last level."""
        return next((cache for cache in self._caches[:-1] if cache.level == 2), None)

    @property
    def last(self) -> HostCache | None:
        """The last level, if there is more than the first."""
        return self._caches[-1] if self._caches and self._caches[-1].level > 1 else None

    def steps(self) -> Iterator[str]:
        """Measure step by step; yield the name of each step when it is done."""
        ghz = peak(measure.clock_ghz(self._cpu, self._bench.rounds))
        self._ghz = ghz.value
        self.tables[""] = [row("ghz", ghz.value, ghz.origin)]
        yield "clock"
        self.tables["l1"] = self._l1_rows()
        yield "first-level cache"
        if self.l2 is not None:
            self.tables["l2"] = self._l2_rows(self.l2)
        yield "second-level cache"
        self.llc = self._llc_rows()
        yield "last-level cache"
        self.dram_ns = self._chase(self._far_lines())
        yield "memory"
        self.tables["tlb"] = self._tlb_rows()
        yield "TLBs"
        self.tables["core"] = self._core_rows()
        yield "overlap of misses"

    def _chase(self, lines: int, chains: int = 1) -> Reading:
        return idle(
            measure.chase_ns(self._cpu, max(64, lines), chains=chains, rounds=self._bench.rounds)
        )

    def _far_lines(self) -> int:
        last = self.last or self.l1
        return self._bench.beyond(last.part_bytes if last else 0) // LINE_BYTES

    def _shape(self, table: str, cache: HostCache | None) -> list[Row]:
        if cache is None:
            return [self._assumed.row(table, "size_bytes"), self._assumed.row(table, "ways")]
        known = row("ways", cache.ways, "sysfs R")
        ways = known if cache.ways else self._assumed.row(table, "ways")
        origin = "sysfs R"
        if cache.parts > 1:
            origin = f"D: a node's part of {cache.size_bytes}, of {cache.parts} (sysfs R)"
        return [row("size_bytes", cache.part_bytes, origin), ways]

    def _clocks(self, key: str, reading: Reading) -> Row:
        return row(key, reading.value * self._ghz, reading.origin)

    def _l1_rows(self) -> list[Row]:
        size = self.l1.size_bytes if self.l1 else 16384
        reading = self._chase(size // 2 // LINE_BYTES)
        return [*self._shape("l1", self.l1), self._clocks("latency_clocks", reading)]

    def _l2_rows(self, l2: HostCache) -> list[Row]:
        inner = self.l1.size_bytes if self.l1 else 16384
        reading = self._chase(max(l2.size_bytes // 2, 2 * inner) // LINE_BYTES)
        self._l2_ns = reading.value
        holds = inclusive(self._cpuid, 2)
        rows = [
            *self._shape("l2", l2),
            self._clocks("latency_clocks", reading),
            text_row(
                "inclusion", "inclusive", "CPUID R" if holds else _NOT_SAID.format("exclusive")
            ),
        ]
        if self._cores_of_l2 > 1:
            rows.append(row("cores", self._cores_of_l2, "sysfs R"))
        return rows

    def _llc_rows(self) -> list[Row]:
        last = self.last
        if last is None:
            latency = self._assumed.row("llc", "latency")
        else:
            below = self.l2 or self.l1
            inner = below.size_bytes if below else 16384
            # Little more than the capacity of the level below: others may share this cache.
            size = min(2 * inner, round(sqrt(inner * last.part_bytes)))
            reading = min(
                (self._chase(size // LINE_BYTES) for _ in range(_BUFFERS)),
                key=lambda each: each.value,
            )
            value = f"{{ clocks = {reading.value:.4g}, clocks_at_ghz = 1.0 }}"
            latency = Row("latency", value, f"{reading.origin}; nanoseconds")
        holds = inclusive(self._cpuid, last.level) if last else None
        inclusion = (
            text_row("inclusion", "victim", _NOT_SAID.format("inclusive"))
            if holds is None
            else text_row("inclusion", "inclusive" if holds else "victim", "CPUID R")
        )
        rows = [*self._shape("llc", last), latency, inclusion]
        if last is not None and last.by_home and not holds:
            rows.append(Row("by_home", "true", "D: nodes divide the cache"))
        return rows

    def _cpuid(self, leaf: int, subleaf: int) -> tuple[int, int, int, int] | None:
        return measure.cpuid(self._cpu, leaf, subleaf)

    def _tlb_rows(self) -> list[Row]:
        said = tlb_shape(self._cpuid)
        shape = said or _assumed_shape(self._assumed.table("tlb"))

        def known(key: str) -> Row:
            if said is None:
                return self._assumed.row("tlb", key, "assumed.toml (not said by CPUID)")
            return row(key, getattr(said, key), "CPUID R")

        rows = [known(key) for key in ("l1_entries", "l1_ways", "l1_large_entries", "l2_entries")]
        if shape.l2_entries:
            rows += [known("l2_ways"), known("l2_large_entries")]
            between = round(sqrt(2 * shape.l1_entries * shape.l2_entries / 2))
            rows.append(self._clocks("l2_hit_clocks", self._extra(between)))
        entries = max(shape.l1_entries, shape.l2_entries)
        # The lines themselves stay in half of the second level.
        fit = (self.l2.size_bytes if self.l2 else 1 << 20) // 2 // LINE_BYTES
        walk = self._extra(max(2 * entries, min(fit, max(4 * entries, _ENOUGH_PAGES))))
        # The time of a walk excludes the cache access that fetches the entry: one L2 hit.
        own = Reading(max(0.0, walk.value - self._l2_ns), walk.spread)
        rows.append(self._clocks("walk_clocks", own))
        rows.append(Row("walk_reads_caches", "true", "D: the fetch of the entry comes on top"))
        fault = idle(measure.page_fault_ns(self._cpu, self._bench.rounds))
        rows.append(row("page_fault_ns", fault.value, fault.origin))
        return rows

    def _extra(self, pages: int) -> Reading:
        """Extra time of a load when each line is on a page of its own instead of side by side."""
        spread_out = idle(
            measure.chase_ns(
                self._cpu,
                pages,
                stride_bytes=_PAGE_BYTES,
                large_pages=False,
                rounds=self._bench.rounds,
            )
        )
        packed = self._chase(pages)
        return Reading(
            max(0.0, spread_out.value - packed.value), max(spread_out.spread, packed.spread)
        )

    def _core_rows(self) -> list[Row]:
        many = self._chase(self._far_lines(), measure.MOST_CHAINS)
        overlap = min(measure.MOST_CHAINS, max(1, round(self.dram_ns.value / many.value)))
        spread = max(self.dram_ns.spread, many.spread)
        measured = row(
            "misses_in_flight",
            overlap,
            f"{Reading(overlap, spread).origin}: {measure.MOST_CHAINS} pointers against one",
        )
        return [
            *(self._assumed.row("core", key) for key in ("width", "base_ipc")),
            measured,
            *(
                self._assumed.row("core", key)
                for key in ("window", "uops_per_instruction", "smt_slowdown")
            ),
        ]


def _assumed_shape(table: dict[str, object]) -> TlbShape:
    def entry(key: str) -> int:
        value = table[key]
        assert isinstance(value, int)
        return value

    return TlbShape(
        entry("l1_entries"),
        entry("l1_ways"),
        entry("l2_entries"),
        entry("l2_ways"),
        entry("l1_large_entries"),
        entry("l2_large_entries"),
    )
