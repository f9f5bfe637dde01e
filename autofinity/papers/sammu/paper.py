"""Cruz et al., A Sharing-Aware Memory Management Unit for Online Mapping, Euro-Par 2016."""

from autofinity.papers.figure import Paper

PAPER = Paper("Cruz et al., Euro-Par 2016", "xeon-x7550", "sammu-")
SIZE, REPEATS = "small", 4
"""Pages that stay in the TLBs are hardly looked at (section 3.1), and pages of `tiny` inputs do."""
MECHANISMS = (
    *("random", "marathe", "autopin", "numa-balancing", "kmaf14", "sammu"),
    "oracle-trace",
)
