"""How many affinities there are. Ours are more than the paper's: tests/golden says by how many."""

from __future__ import annotations

from autofinity.affinity.enumerate import count_affinities
from autofinity.model.topology import Topology
from autofinity.papers.cc13.paper import PAPER
from autofinity.papers.figure import AnyFigure, Figure
from autofinity.papers.observed import Observed
from autofinity.report.chart import Chart


class AffinityCounts:
    """Affinities up to isomorphism by thread count, from one to the number of cores."""

    def data(self, observed: Observed) -> Topology:
        """Nothing runs."""
        return observed.topology()

    def draw(self, figure: AnyFigure, topology: Topology, on: str) -> Chart:
        """One line."""
        counts = range(1, topology.n_cores + 1)
        found = tuple(float(count_affinities(topology, threads)) for threads in counts)
        return Chart(
            f"Figure 2a: {figure.title} on {topology.name}",
            "threads",
            "affinities up to isomorphism",
            tuple(map(str, counts)),
            {"affinities": found},
            kind="lines",
            log=True,
        )


FIGURE = Figure(PAPER, "2a", "affinities", "2", AffinityCounts(), {"8": 78, "24": 1941})
