"""AutoFinity: all its figures, in the paper's order."""

from autofinity.papers.cc13 import figure_1, figure_2, figure_9, figure_10, figure_11, figure_12

FIGURES = (
    *(figure_1.FIGURE, figure_2.FIGURE, *figure_9.FIGURES),
    *(figure_10.FIGURE, figure_11.FIGURE, figure_12.FIGURE),
)
