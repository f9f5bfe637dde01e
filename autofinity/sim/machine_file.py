"""The tables of a machine file as pydantic models: their keys and accepted values.

docs/machines.md explains the keys. Where `sim/spec.py` has the same values, its types are read
directly; the other tables make theirs by `spec`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from autofinity.checked_file import Table, WrongValueError
from autofinity.sim.preset_topology import CoresPerLlc, PusPerCore
from autofinity.sim.spec import (
    LINE_BYTES,
    PMU_COUNTERS,
    CacheSpec,
    CoreClassSpec,
    CoreSpec,
    DirectorySpec,
    EnergySpec,
    LatencySpec,
    PrefetchSpec,
    SystemSpec,
    TlbSpec,
)

BY_DISTANCE = (
    "dram",
    "load_modified",
    "load_shared",
    "store_modified",
    "store_shared",
    "atomic_modified",
    "atomic_shared",
)
"""Keys of `[latency]` with one value for each distance class."""

SlitDistances = tuple[Annotated[int, Field(ge=11, le=255)], ...]
Ghz = Annotated[float, Field(ge=0.01, le=100)]
Clocks = Annotated[float, Field(ge=0, le=10_000)]
Ways = Annotated[int, Field(ge=1, le=128)]
LEAST_GBS = 0.001
"""Least bandwidth: below it a line takes longer than any program runs. 0 is not slow but
unlimited."""


def _no_trickle(gbs: float) -> float:
    if 0 < gbs < LEAST_GBS:
        raise WrongValueError("", f"got {gbs:g} GB/s, expected {LEAST_GBS} or more, or 0: no limit")
    return gbs


Gbs = Annotated[float, Field(ge=0, le=1e6), AfterValidator(_no_trickle)]
Number = Annotated[int, Field(ge=0, le=1 << 31)]
_EACH_DISTANCE = Field(
    min_length=3,
    max_length=6,
    description="3 to 6 numbers: same LLC or node, same package, one hop, two hops, …",
)
ByDistance = Annotated[tuple[Annotated[float, Field(ge=0, le=1e9)], ...], _EACH_DISTANCE]
LinkGbs = Annotated[tuple[Gbs, ...], _EACH_DISTANCE]


def _check_multiple(key: str, entries: int, ways: int) -> None:
    if entries % ways:
        raise WrongValueError(key, f"{entries} is no multiple of {ways} ways")


def _of_whole_sets(directory: DirectorySpec) -> DirectorySpec:
    _check_multiple("entries_per_node", directory.entries_per_node, directory.ways)
    return directory


def _within_its_bounds(core: CoreSpec) -> CoreSpec:
    if core.base_ipc > core.width:
        raise WrongValueError("base_ipc", f"got {core.base_ipc:g}, above the width of {core.width}")
    if core.smt_window is not None and core.smt_window > core.window:
        raise WrongValueError(
            "smt_window", f"got {core.smt_window}, above the window of {core.window}"
        )
    return core


class _Cache(Table):
    size_bytes: Annotated[int, Field(ge=LINE_BYTES, le=1 << 34)]
    ways: Ways

    @model_validator(mode="after")
    def _a_line_each_way(self) -> Self:
        least = self.ways * LINE_BYTES
        if self.size_bytes < least:
            raise WrongValueError("size_bytes", f"got {self.size_bytes}, expected {least} or more")
        return self


class _Private(_Cache):
    latency_clocks: Clocks

    def spec(self, ghz: float, inclusion: str = "") -> CacheSpec:
        """The cache in a core of this clock."""
        return CacheSpec(self.size_bytes, self.ways, self.latency_clocks / ghz, inclusion)


class _L1(_Private):
    @model_validator(mode="after")
    def _indexed_by_bits(self) -> Self:
        sets = self.spec(1).sets
        if sets.bit_count() != 1 or sets > 512:
            raise WrongValueError("", f"{sets} sets; expected a power of two of at most 512")
        return self


class _L2(_Private):
    inclusion: Literal["exclusive", "inclusive"]
    cores: Annotated[int, Field(ge=1, le=64)] = 1

    @model_validator(mode="after")
    def _shared_if_inclusive(self) -> Self:
        if self.cores > 1 and self.inclusion != "inclusive":
            raise WrongValueError(
                "inclusion",
                f"got an exclusive L2 of {self.cores} cores; expected inclusive, or one core",
            )
        return self


class _Latency(Table):
    clocks: Annotated[float, Field(ge=0, le=1e12)]
    clocks_at_ghz: Ghz


class _Llc(_Cache):
    """`[llc]`. Its latency has a clock of its own, which need not follow the cores."""

    latency: _Latency
    inclusion: Literal["victim", "inclusive"]
    by_home: bool = False

    @model_validator(mode="after")
    def _by_home_if_victim(self) -> Self:
        if self.by_home and self.inclusion != "victim":
            raise WrongValueError(
                "by_home", f"got true with inclusion = {self.inclusion}; expected false, or victim"
            )
        return self

    def spec(self) -> CacheSpec:
        """The cache of one domain."""
        latency_ns = self.latency.clocks / self.latency.clocks_at_ghz
        return CacheSpec(self.size_bytes, self.ways, latency_ns, self.inclusion)


class _Tlb(Table):
    """`[tlb]`. The shape of the second level is required only where there is one."""

    l1_entries: Annotated[int, Field(ge=1, le=254)]
    l1_ways: Annotated[int, Field(ge=0, le=128)] = 0
    l2_entries: Annotated[int, Field(ge=0, le=1 << 20)]
    l2_ways: Ways | None = None
    l2_hit_clocks: Clocks | None = None
    walk_clocks: Clocks
    page_fault_ns: Annotated[float, Field(ge=0, le=1e9)]
    l1_large_entries: Annotated[int, Field(ge=1, le=254)] | None = None
    l2_large_entries: Annotated[int, Field(ge=0, le=1 << 20)] = 0
    walk_reads_caches: bool = False

    @model_validator(mode="after")
    def _whole_sets(self) -> Self:
        for key in ("l2_ways", "l2_hit_clocks"):
            if self.l2_entries and getattr(self, key) is None:
                raise WrongValueError(key, "missing; expected where l2_entries is not 0")
        _check_multiple("l1_entries", self.l1_entries, self.l1_ways or 1)
        _check_multiple("l2_entries", self.l2_entries, self.l2_ways or 1)
        return self

    def spec(self, ghz: float) -> TlbSpec:
        """The TLBs in a core of this clock."""
        return TlbSpec(
            l1_entries=self.l1_entries,
            l1_ways=self.l1_ways,
            l2_entries=self.l2_entries,
            l2_ways=self.l2_ways or 1,
            l2_hit_ns=(self.l2_hit_clocks or 0) / ghz,
            walk_ns=self.walk_clocks / ghz,
            page_fault_ns=self.page_fault_ns,
            l1_large_entries=self.l1_large_entries or self.l1_entries,
            l2_large_entries=self.l2_large_entries,
            walk_reads_caches=self.walk_reads_caches,
        )


class _CoreClass(Table):
    ghz: Ghz
    l1: _L1
    l2: _L2 | None = None
    tlb: _Tlb
    core: Annotated[CoreSpec, AfterValidator(_within_its_bounds)]
    prefetch: PrefetchSpec | None = None

    def spec(self, name: str) -> CoreClassSpec:
        """The class of this name."""
        return CoreClassSpec(
            name=name,
            ghz=self.ghz,
            l1=self.l1.spec(self.ghz),
            l2=None if self.l2 is None else self.l2.spec(self.ghz, self.l2.inclusion),
            tlb=self.tlb.spec(self.ghz),
            core=self.core,
            prefetch=self.prefetch,
            l2_cores=1 if self.l2 is None else self.l2.cores,
        )


class _NamedCoreClass(_CoreClass):
    """`[[core_class]]`: one of several kinds, and the number of its cores in an LLC domain."""

    name: str
    cores_per_llc: CoresPerLlc
    pus_per_core: PusPerCore


class _Coherence(Table):
    protocol: Literal["mesi", "moesi"]
    clean_forwarding: bool
    directory: Annotated[DirectorySpec, AfterValidator(_of_whole_sets)] | None = None


class _Latencies(Table):
    clocks_at_ghz: Ghz
    further_from: SlitDistances = ()
    further_in_package: SlitDistances = ()
    dram: ByDistance
    load_modified: ByDistance
    load_shared: ByDistance
    store_modified: ByDistance
    store_shared: ByDistance
    atomic_modified: ByDistance
    atomic_shared: ByDistance
    atomic_hit: Clocks

    @model_validator(mode="after")
    def _as_many_of_each(self) -> Self:
        for key in BY_DISTANCE:
            if len(getattr(self, key)) != len(self.dram):
                raise WrongValueError(
                    key,
                    f"got {len(getattr(self, key))} values, expected {len(self.dram)} as in dram",
                )
        return self

    def spec(self) -> LatencySpec:
        """Latencies in nanoseconds."""
        ghz = self.clocks_at_ghz
        tables = {key: tuple(clocks / ghz for clocks in getattr(self, key)) for key in BY_DISTANCE}
        return LatencySpec(**tables, atomic_hit=self.atomic_hit / ghz)


class Bandwidths(Table):
    """`[bandwidth]`: for links by the nodes that they join, or by distance class."""

    memory_gbs: Gbs | tuple[Gbs, ...]
    fabric_gbs: Gbs
    fabric_write_gbs: Gbs = 0.0
    llc_gbs: Gbs = 0.0
    links: (
        Annotated[
            tuple[tuple[Number, Number, Gbs], ...],
            Field(min_length=1, description="rows of 3 numbers: two nodes and GB/s"),
        ]
        | None
    ) = None
    link_gbs: LinkGbs | None = None

    @model_validator(mode="after")
    def _links_said_once(self) -> Self:
        if (self.links is None) == (self.link_gbs is None):
            raise WrongValueError("link_gbs", "expected one of links and link_gbs")
        return self


class _Pmu(Table):
    counters: Annotated[int, Field(ge=0, le=1000)]


class MachineFile(Table):
    """All tables of a machine file except those of its cores and their places."""

    llc: _Llc
    coherence: _Coherence
    latency: _Latencies
    bandwidth: Bandwidths
    system: SystemSpec
    pmu: _Pmu = _Pmu(counters=PMU_COUNTERS)
    energy: EnergySpec | None = None
    page_bytes: Literal[4096, 16384, 2097152] = 4096


class AlikeCores(MachineFile, _CoreClass):
    """A file whose cores are all of one kind."""


class HybridCores(MachineFile):
    """A file of several kinds of cores."""

    core_class: Annotated[tuple[_NamedCoreClass, ...], Field(min_length=1)]
