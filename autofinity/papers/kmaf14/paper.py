"""Diener et al., kMAF: Automatic Kernel-Level Management of Thread and Data Affinity, PACT 2014."""

from autofinity.papers.figure import Paper

PAPER = Paper("Diener et al., PACT 2014", "xeon-x7550", "kmaf14-")
MECHANISMS = ("compact", "random", "kmaf14", "oracle-trace")
