"""Moore & Childers, Automatic Generation of Program Affinity Policies, CC 2013."""

from autofinity.papers.figure import Paper

PAPER = Paper("Moore & Childers, CC 2013", "opteron-6164he")
