"""TLB matching: all its figures, in the paper's order."""

from autofinity.papers.tlb import (
    figure_3,
    figure_9,
    figure_10,
    figure_11,
    figure_12,
    figure_13,
    figure_14,
    figure_15,
    figure_16,
    table_2,
)

FIGURES = (
    *(figure_3.FIGURE, figure_9.FIGURE, figure_10.FIGURE, figure_11.FIGURE),
    *(*figure_12.FIGURES, *figure_13.FIGURES, *figure_14.FIGURES),
    *(figure_15.FIGURE, figure_16.FIGURE, table_2.FIGURE),
)
