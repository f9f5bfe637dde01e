"""The legend below the table of `compare`."""

from __future__ import annotations

from autofinity.report.comparison_legend import legend
from autofinity.report.comparison_table import table


def test_every_column_of_the_table_has_a_line_that_fits_a_terminal() -> None:
    columns = [str(column.header) for column in table({}, "").columns]
    lines = legend({})
    explained = [
        word.strip() for line in lines if line.startswith("  ") for word in line[:17].split(",")
    ]
    assert sorted(explained) == sorted(set(columns) - {"mechanism"})
    assert max(map(len, lines)) <= 80
