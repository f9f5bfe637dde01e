"""kMAF'14: all its figures, in the paper's order."""

from autofinity.papers.kmaf14 import (
    figure_1,
    figure_2,
    figure_3,
    figure_4,
    figure_7,
    figure_8,
    figure_9,
    figure_10,
    figure_11,
    figure_12,
)

FIGURES = (
    *(figure_1.FIGURE, figure_2.FIGURE, figure_3.FIGURE, figure_4.FIGURE),
    *(figure_7.FIGURE, figure_8.FIGURE, figure_9.FIGURE),
    *(figure_10.FIGURE, figure_11.FIGURE, figure_12.FIGURE),
)
