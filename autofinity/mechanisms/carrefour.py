"""Carrefour: Dashti et al., Traffic Management: A Holistic Approach to Memory Placement on NUMA
Systems, ASPLOS 2013, as kMAF'16 (sections 2.1.1, 5.3 and 6.1) compares with it.

Pages only, from sampled accesses to at most 30,000 pages: one that a single node accesses is
co-located with it, one that several nodes access is interleaved; each only while the machine as a
whole has too few local accesses, or too uneven loads. Once a second.

Deviations: no replication (the simulated memory has one copy of a page); an interleaved page goes
to a node by its address, not to a random one among those with less load.
"""

from __future__ import annotations

from autofinity.mapping.pages import carrefour_rule, moves
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import SharingAware
from autofinity.model.detection import AccessSampling

ACCESSES_PER_SAMPLE = 40_000
"""One in some 0.1 million instructions, as instruction-based sampling is usually set; not scaled,
since its costs are not."""


def carrefour(setting: Setting) -> SharingAware:
    """The recipe."""
    return SharingAware(
        name="carrefour",
        setting=setting,
        detectors=(AccessSampling(period=ACCESSES_PER_SAMPLE),),
        page_mapper=lambda pages: moves(pages, carrefour_rule(pages)),
        period_ms=1000,
    )
