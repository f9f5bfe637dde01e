"""SAMMU: all its figures, in the paper's order."""

from autofinity.papers.sammu import figure_2, figure_3, figure_4

FIGURES = (figure_2.FIGURE, figure_3.FIGURE, *figure_4.FIGURES)
