"""kMAF, second version: Diener, Cruz, Alves, Navaux & Busse, Kernel-Based Thread and Data Mapping
for Improved Memory Affinity, TPDS 2016.

- Detection (4.2.2, table 3): present bits of 10 % of the pages a second are cleared.
- Sharing (4.3.2, eq. 2): a hash table of 2^20 blocks of 256 bytes, the last 2 threads of each.
- Pages (4.3.1, eq. 1): a counter of 1 byte a node.
- Threads (4.4, table 3): EagerMap every 100 ms. Nothing is said of ageing, so none is done.
- Page to node (4.5, eq. 3-8): exclusivity above 80 %: the node with most, if eq. 5 holds; below
  1.5/N, after more than N accesses: interleaved by address. Table 2 shows eq. 5 alone.

Deviations: those of `sharing_aware`. Present bits are cleared "periodically" (4.2.2): here every
10 ms of the paper's run, in a short one every 50 us, each time with one shootdown.
"""

from __future__ import annotations

from autofinity.detect.scaled import FAULTS_PER_PAGE, LEAST_ROUND_NS
from autofinity.mapping.eagermap import eagermap
from autofinity.mapping.pages import locality_or_balance
from autofinity.mechanisms.recipe import NS_PER_S, Setting
from autofinity.mechanisms.sharing_aware import SharingAware, by
from autofinity.model.detection import FaultSampling

SHARE_PER_S = 0.1
"""Share of the pages (table 3)."""


def faults_per_page(repeats: int, paper_s: float) -> float:
    """How often each page is made to fault in a run of a region that is repeated, and stands for so
    many seconds: about 20 times (6.4), as in the paper's run of 349 s, where the region runs that
    often; else once each time. The rate of table 3, where that gives more.
    """
    return max(SHARE_PER_S * paper_s, float(min(FAULTS_PER_PAGE, repeats)))


def faults(setting: Setting) -> FaultSampling:
    """Table 3's detection, at the setting's share of pages per second of a paper's run."""
    return FaultSampling(
        share_per_s=setting.fault_share_per_s * NS_PER_S / setting.paper_second_ns,
        round_ns=max(LEAST_ROUND_NS, setting.ns(10)),
    )


def kmaf16(setting: Setting, *, threads: bool = True, pages: bool = True) -> SharingAware:
    """Both mappings, or one of them alone (figure 9a)."""
    part = "" if threads and pages else "-threads" if threads else "-pages"
    return SharingAware(
        name=f"kmaf16{part}",
        setting=setting,
        detectors=(faults(setting),),
        mapper=eagermap if threads else None,
        page_mapper=by(locality_or_balance) if pages else None,
    )
