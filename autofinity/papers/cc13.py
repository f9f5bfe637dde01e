"""Moore & Childers, Automatic Generation of Program Affinity Policies, CC 2013: its figures."""

from dataclasses import replace

from autofinity.learning.settings import CONDENSE
from autofinity.papers.figure import Figure, Paper
from autofinity.papers.studies.affinity_counts import AffinityCounts
from autofinity.papers.studies.all_affinities import AllAffinities
from autofinity.papers.studies.choices import BASE, Choices
from autofinity.papers.studies.coverage import Coverage
from autofinity.papers.studies.interesting_cases import InterestingCases
from autofinity.papers.studies.one_thread_count import OneThreadCount

PAPER = Paper("Moore & Childers, CC 2013", "opteron-6164he")

FIGURES = (
    Figure(PAPER, "1", "all affinities", "1", AllAffinities()),
    Figure(PAPER, "2a", "affinities", "2", AffinityCounts(), {"8": 78, "24": 1941}),
    Figure(
        PAPER,
        "9a",
        "what the discretisation is worth",
        "3.2",
        Choices(
            "discretisation",
            {
                "equal-width": replace(BASE, discretisation="equal-width"),
                "equal-frequency": replace(BASE, discretisation="equal-frequency"),
            },
        ),
        {"equal-width": 79.4, "equal-frequency": 83.1},  # seconds
    ),
    Figure(
        PAPER,
        "9b",
        "what the condense function is worth",
        "3.3",
        Choices(
            "condense function",
            {name: replace(BASE, condense=name) for name in CONDENSE},  # type: ignore[arg-type]
        ),
        {
            "mean": 80.6,
            "gmean": 80.6,
            "hmean": 80.6,
            "max": 81.5,
            "median": 79.4,
            "min": 83.1,
            "sum": 80.6,
        },
    ),
    Figure(PAPER, "10", "behaviours that the programs show", "3.5", Coverage()),
    Figure(PAPER, "11", "programs not seen before", "3.6", OneThreadCount()),
    Figure(PAPER, "12", "interesting cases", "3.6", InterestingCases()),
)
