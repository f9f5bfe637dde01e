"""Diener et al., Kernel-Based Thread and Data Mapping for Improved Memory Affinity, TPDS 2016."""

from autofinity.papers.figure import Paper

PAPER = Paper("Diener et al., TPDS 2016", "xeon-x7550", "kmaf16-")
MECHANISMS = ("compact", "numa-balancing", "kmaf16", "oracle-trace")
