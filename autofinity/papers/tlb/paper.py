"""Cruz, Diener, Navaux, Communication-Aware Thread Mapping Using the TLB, CCPE 2014."""

from statistics import fmean

from autofinity.papers.changes import mean_change
from autofinity.papers.figure import Paper

PAPER = Paper("Cruz et al., CCPE 2014", "xeon-e5-2650", "tlb-")
MECHANISMS = ("random-threads", "tlb", "oracle-threads")
TWO_PHASES = "256 4 131072"
"""Input of `prodcons`: blocks, phases, words of a block. Pages that partners exchange fill a TLB,
so that the pages of former partners leave it."""
TABLE_II = {
    "time": mean_change(-9.2, 2.2, -0.3, 0.3, -0.3, -7.4, -0.4, -16.7, -4.6),
    "l2_mpki": mean_change(-23.1, -2.3, -2.5, -0.1, -3.2, -23.3, -0.8, -25.1, -24.4),
    "mpki": mean_change(-54.4, -3.2, -4.6, 0.0, -3.2, -35.4, -1.1, -59.3, -54.7),
    "cache_to_cache": mean_change(-67.0, -23.1, 8.8, -8.6, -16.5, -49.3, -65.7, -76.3, -60.3),
    "processor_energy": mean_change(-6.8, 1.9, -0.3, 0.5, 0.1, -6.9, -0.4, -14.8, -4.6),
    "dram_energy": mean_change(-17.4, 1.0, 0.6, -0.2, -0.6, -17.6, 0.0, -24.3, -23.6),
    "energy_per_instruction": mean_change(-6.5, 1.7, -0.4, 0.2, -1.0, -7.0, -0.2, -13.2, -5.9),
    "mappings_changed": fmean((1, 1, 1, 3, 1, 1, 2, 1, 1)),
}
"""Means over BT, CG, EP, FT, IS, LU, MG, SP and UA: ratios to the operating system's, and the
number of migrations. Figures 12 to 16 draw it. Energy an instruction is the processors' (ours: the
paper does not say; the changes of the two go together)."""
