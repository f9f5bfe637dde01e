"""Machines so small, with such round numbers, that every count of a program can be computed by
hand.

Two packages of two dies, each die one node and one LLC of three cores. Seen from core 0, cores 1
and 2 share the LLC, 3-5 the package, 6-8 are one hop away, 9-11 two. One clock is one nanosecond
and one instruction:

    L1    2 sets x 2 ways    set = line & 1      3 clocks
    L2    4 sets x 2 ways    set = line & 3     15 clocks
    LLC   8 sets x 2 ways    set = line & 7     40 clocks
    TLB   4 entries, then 4 sets x 2 ways (set = page & 3), 5 clocks; a walk 15 more; a fault 700

A page's frame decides only bits above the sixth of a line's number, so `line` may be counted from
the start of its page. All other numbers are in `hand_machine.toml`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autofinity.sim.preset import read_preset
from autofinity.sim.routes import routes_over
from autofinity.sim.spec import DirectorySpec, LinkSpec, MachineSpec, PrefetchSpec

SAME_LLC, SAME_PACKAGE, ONE_HOP, TWO_HOPS = 1, 3, 6, 9
"""A core at each distance from core 0."""

SAME_LLC_TOO = 2
BESIDE_ONE_HOP = 7
"""Shares the LLC of `ONE_HOP`."""

SIBLING, OTHER_L2 = 1, 2
"""Cores of core 0's LLC, by the L2 that they have on SHARED_L2."""

VICTIM = read_preset(Path(__file__).with_name("hand_machine.toml"))
"""Like AMD's: exclusive L2, victim LLC, MOESI, clean lines of other dies come from memory."""


VICTIM_MESI = replace(VICTIM, protocol="mesi", clean_forwarding=True)
"""Like Intel's since Skylake-SP: victim LLC, MESIF."""

BY_HOME = replace(VICTIM_MESI, llc_by_home=True)
"""The same with sub-NUMA clusters: an LLC has the lines of its node's memory."""

FORWARDING = replace(VICTIM, clean_forwarding=True)
"""Like AMD's with state F: clean lines of other dies come from the die that got them last."""


def _inclusive(spec: MachineSpec) -> MachineSpec:
    (cores,) = spec.core_classes
    assert cores.l2 is not None
    return replace(
        spec,
        core_classes=(replace(cores, l2=replace(cores.l2, inclusion="inclusive")),),
        llc=replace(spec.llc, inclusion="inclusive"),
        protocol="mesi",
        clean_forwarding=True,
    )


INCLUSIVE = _inclusive(VICTIM)
"""Like Intel's before Skylake-SP: inclusive L2 and LLC, MESIF."""

(_CORES,) = VICTIM.core_classes

WALKING = replace(
    VICTIM,
    core_classes=(replace(_CORES, tlb=replace(_CORES.tlb, walk_reads_caches=True)),),
)
"""Walks read their page-table entry through the caches. A line of a table has eight entries, so
that pages 0-7 share one in set 0 of every level, and pages 8-15 one in set 1."""

PREFETCHING = replace(VICTIM, core_classes=(replace(_CORES, prefetch=PrefetchSpec(2, 2, 2, 2)),))
"""Two misses in a row start one of two streams; each miss fetches two lines, at most two ahead."""

FILTERED = replace(VICTIM, directory=DirectorySpec(entries_per_node=4, ways=2))
"""Caches hold at most four lines of a node, in two sets: set = line & 1."""

PREFETCHING_ONE_AT_A_TIME = replace(
    VICTIM,
    core_classes=(replace(_CORES, prefetch=PrefetchSpec(2, 2, 2, 2, lines_in_flight=1)),),
)
"""The same with at most one line on its way."""

PREFETCHING_INTO_LLC = replace(
    VICTIM, core_classes=(replace(_CORES, l2=None, prefetch=PrefetchSpec(2, 2, 2, 2)),)
)
"""The same without an L2."""

NO_L2 = replace(VICTIM, core_classes=(replace(_CORES, l2=None),))
"""VICTIM without an L2: the LLC is the second level."""


def with_shared_l2(spec: MachineSpec, cores: int) -> MachineSpec:
    """`spec` with an L2 for every `cores` cores of an LLC domain, inclusive of their L1s."""
    (kind,) = spec.core_classes
    assert kind.l2 is not None
    l2 = replace(kind.l2, inclusion="inclusive")
    return replace(spec, core_classes=(replace(kind, l2=l2, l2_cores=cores),))


SHARED_L2 = with_shared_l2(VICTIM, 2)
"""The first two cores of a die share an L2, the third has one alone."""

ASSOCIATIVE_TLB = replace(
    VICTIM, core_classes=(replace(_CORES, tlb=replace(_CORES.tlb, l1_ways=2)),)
)
"""The first TLB has two sets of two ways: set = page & 1."""


def _chained() -> MachineSpec:
    links = tuple(LinkSpec(node, node + 1, 3.2) for node in range(3))
    bandwidth = replace(VICTIM.bandwidth, links=links, routes=routes_over(4, links))
    return replace(VICTIM, bandwidth=bandwidth)


CHAINED = _chained()
"""A machine whose nodes are linked only as 0-1-2-3; a line keeps each link busy for 20 clocks."""


def with_pages(page_bytes: int) -> MachineSpec:
    """VICTIM with pages of another size."""
    return replace(VICTIM, page_bytes=page_bytes)


PAGES_16K, PAGES_2M = with_pages(16 << 10), with_pages(2 << 20)
