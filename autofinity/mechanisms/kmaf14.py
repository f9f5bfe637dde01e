"""kMAF, first version: Diener, Cruz, Navaux, Busse & Heiss, kMAF: Automatic Kernel-Level Management
of Thread and Data Affinity, PACT 2014.

- Detection (3.1.2): present bits are cleared periodically.
- Sharing (3.2, table 2): sub-blocks of 1 KiB with an MRU and an LRU thread; all pairs count.
- Pages (3.2, table 2): a counter of 1 byte a node.
- Threads (3.4.1): SCOTCH's dual recursive bipartitioning every 100 ms.
- Ageing (3.4.2): the matrix times 0.75 after each mapping.
- Page to node (3.3, eq. 6): max > 2·max₂ + 1; counters are halved on a move; no move before threads
  have been mapped once.

Deviations: those of `sharing_aware`; the bipartitioning is our own (`mapping.bisection`), not
SCOTCH's; no rate of faults is given, so that of kMAF'16 is taken, 10 % of the pages a second.
"""

from __future__ import annotations

from dataclasses import replace

from autofinity.mapping.bisection import bisection
from autofinity.mapping.pages import locality
from autofinity.mechanisms.kmaf16 import faults
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by

AGEING = 0.75


def kmaf14(setting: Setting, *, threads: bool = True, pages: bool = True) -> SharingAware:
    """Both mappings, or one of them alone (figure 11)."""
    part = "" if threads and pages else "-threads" if threads else "-pages"
    detector = replace(faults(setting), table="sub-blocks", block_bytes=1024, halve_on_move=True)
    return SharingAware(
        name=f"kmaf14{part}",
        setting=setting,
        detectors=(detector,),
        mapper=bisection if threads else None,
        page_mapper=by(locality) if pages else None,
        ageing=AGEING,
        threads_first=threads,
    )
