"""SAMMU: Cruz, Diener, Pilla & Navaux, A Sharing-Aware Memory Management Unit for Online Mapping in
Multi-core Architectures, Euro-Par 2016; and LAPT, its forerunner in the page table.

- Detection (3.1, eq. 1-2): accesses of each TLB entry against the page's threshold; LAPT: every
  access to a TLB updates the page table's entry.
- Sharing (3.2): a vector of the last 2 sharers.
- Pages (3.3, table 1): saturating counters of 4 bits, +2 for the own node, -1 for the others; LAPT:
  counts.
- Threads (4.1): EagerMap.
- Page to node (3.3): NC[n] - NC[m] ≥ 10.

Deviations: "decrements" is read as minus one (table 1 gives V_add = 2 only). Access counters of
10 bits in place of 32: a page that stays in the TLB is looked at when its counter is full only, and
in a run of milliseconds pages are accessed thousands of times, not 2^32. Threads are mapped every
100 ms, as kMAF'16 does: no period is given. LAPT is built from what the survey in SAMMU's paper
says of it.
"""

from __future__ import annotations

from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.pages import sammu as ahead_of_its_node
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by
from autofinity.model.detection import TlbAccessCounters

ACCESS_COUNTER_BITS = 10


def sammu(setting: Setting) -> SharingAware:
    """The MMU counts in the TLB."""
    detector = TlbAccessCounters(access_counter_bits=ACCESS_COUNTER_BITS)
    return _recipe("sammu", setting, detector)


def lapt(setting: Setting) -> SharingAware:
    """The page table holds the counters."""
    return _recipe("lapt", setting, TlbAccessCounters(held_in="page table"))


def _recipe(name: str, setting: Setting, detector: TlbAccessCounters) -> SharingAware:
    return SharingAware(
        name=name,
        setting=setting,
        detectors=(detector,),
        mapper=eagermap,
        page_mapper=by(ahead_of_its_node),
    )
