"""SPCD: Diener, Cruz & Navaux, Communication-Based Mapping Using Shared Pages, IPDPS 2013; as kMAF
and Cruz et al. describe it (kMAF'16, sections 2.2 and 4.3.2; the TLB paper, section 3).

Threads only: induced page faults, a hash table of memory blocks with the last 2 threads each, and
the hierarchical matching of Edmonds' algorithm.

Deviations: the rate is kMAF'16's (10 % of the pages a second); a mapping every second.
"""

from __future__ import annotations

from autofinity.mapping.edmonds import edmonds
from autofinity.mechanisms.kmaf16 import faults
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import SharingAware


def spcd(setting: Setting) -> SharingAware:
    """The recipe."""
    return SharingAware(
        name="spcd",
        setting=setting,
        detectors=(faults(setting),),
        mapper=edmonds,
        period_ms=1000,
    )
