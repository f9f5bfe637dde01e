"""kMAF'16: all its figures, in the paper's order."""

from autofinity.papers.kmaf16 import (
    figure_1,
    figure_4,
    figure_5,
    figure_6,
    figure_7,
    figure_8,
    figure_9,
    figure_10,
    figure_11,
    table_5,
)

FIGURES = (
    *(figure_1.FIGURE, figure_4.FIGURE, figure_5.FIGURE, figure_6.FIGURE),
    *(figure_7.FIGURE, figure_8.FIGURE, *figure_9.FIGURES),
    *(figure_10.FIGURE, *figure_11.FIGURES, *table_5.FIGURES),
)
