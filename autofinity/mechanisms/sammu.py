"""SAMMU: Cruz, Diener, Pilla & Navaux, A Sharing-Aware Memory Management Unit for Online Mapping in
Multi-core Architectures, Euro-Par 2016.

- Detection (3.1, equations 1 and 2): accesses of each TLB entry against the page's threshold.
- Sharing (3.2): a vector of the last 2 sharers; a thread counts in its own row only.
- Pages (3.3, table 1): saturating counters of 4 bits, +2 for the own node, -1 for the others.
- Page to node (3.3): NC[n] - NC[m] ≥ 10; the operating system is notified.
- Threads (4.1): EagerMap.
- Cost (4.4): the unit's accesses to its tables are made in the simulated memory, and last.

Deviations: "decrements" is read as minus one (table 1 gives V_add = 2 only). EagerMap takes what
two threads share from both rows. Threads are mapped every 100 ms, as kMAF'16 does: no period is
given. Access counters have 32 bits (table 1) in a run of the paper's length. In one that stands for
a longer one they have as many fewer as it is shorter, so that a page which stays in the TLB is
looked at as often in a run as it would be in the paper's; evictions come as they come.

LAPT, the locality-aware page table: Cruz, Diener, Alves, Pilla & Navaux, Optimizing Memory Locality
Using a Locality-Aware Page Table, SBAC-PAD 2014. It is built from what kMAF'16 (section 2.1.3, its
reference 22) says of it: the page-table entry holds the behaviour, the MMU updates it on every TLB
access, the operating system evaluates it periodically. Sharers, mapper and rule for pages are
SAMMU's, counts are plain, and what an entry has gathered is written back when it leaves the TLB:
of all that no section is cited, for it is ours.
"""

from __future__ import annotations

import math

from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.pages import sammu as ahead_of_its_node
from autofinity.mechanisms.recipe import NS_PER_S, Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by
from autofinity.model.detection import TlbAccessCounters

ACCESS_COUNTER_BITS = 32
"""Table 1."""


def sammu(setting: Setting) -> SharingAware:
    """The MMU counts in the TLB."""
    return _recipe("sammu", setting, TlbAccessCounters(access_counter_bits=counter_bits(setting)))


def lapt(setting: Setting) -> SharingAware:
    """The page table holds the counters."""
    return _recipe("lapt", setting, TlbAccessCounters(held_in="page table"))


def counter_bits(setting: Setting) -> int:
    """Bits of counters that are full as often in this run as 32 bits in the run it stands for."""
    scale = min(1.0, setting.paper_second_ns / NS_PER_S)
    return max(1, round(ACCESS_COUNTER_BITS + math.log2(scale)))


def _recipe(name: str, setting: Setting, detector: TlbAccessCounters) -> SharingAware:
    return SharingAware(
        name=name,
        setting=setting,
        detectors=(detector,),
        mapper=eagermap,
        page_mapper=by(ahead_of_its_node),
    )
