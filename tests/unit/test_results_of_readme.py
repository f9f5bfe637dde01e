"""Figures of README's table of results are those that commands printed into the documents."""

from __future__ import annotations

import re
from pathlib import Path

from readme_results import cells, rows_of_readme

from autofinity.evaluation.times import geometric_mean

ROOT = Path(__file__).resolve().parents[2]


def rows_of_page() -> list[list[str]]:
    """Machines, interesting cases won, share of the best hint, worst case."""
    lines = (ROOT / "docs/any-machine.md").read_text().splitlines()
    rows = [cells(line) for line in lines if line.startswith("| ")]
    return [[row[0], *row[4:7]] for row in rows if len(row) == 9]


def test_rows_on_several_machines_are_printed_by_any_machine() -> None:
    printed = [figures for machines, *figures in rows_of_page() if machines == "all"]
    _, *rows, _ = rows_of_readme()
    assert len(rows) == 4
    for _, *figures in rows:
        assert [figure.replace(" %", "%") for figure in figures] in printed


def test_the_row_of_the_kernels_is_the_sum_over_machines() -> None:
    rows = [figures for machines, *figures in rows_of_page() if machines.endswith(", kernels`")]
    assert len(rows) == 3
    won, interesting = (sum(int(row[0].split()[at]) for row in rows) for at in (0, 2))
    worst = max(float(row[2].removesuffix("%")) for row in rows)
    *_, (_, *figures) = rows_of_readme()
    assert figures[::2] == [f"{won} of {interesting}", f"{worst:.1f} %"]
    assert abs(float(figures[1]) - geometric_mean([float(row[1]) for row in rows])) < 0.001


def test_the_row_of_the_papers_machine_is_in_the_results() -> None:
    row, *_ = rows_of_readme()
    results = (ROOT / "docs/results.md").read_text()
    (line,) = [one for one in results.splitlines() if "leave one out, 25 programs" in one]
    won, share, worst = row[1:]
    assert f"{won} interesting cases won" in line and f"{share} of the best hint" in line
    (regret,) = re.findall(r"regret against the best .*? worst ([\d.]+ %)", results)
    assert regret == worst


def test_cases_won_within_a_minute_are_the_sum_over_machines() -> None:
    printed = (ROOT / "docs/run.md").read_text().split("within_run.py, machines -->")[1]
    won = re.findall(r"\| within the run \| [\d.]+ \| [\d.]+ \| (\d+) of (\d+) \|", printed)
    assert len(won) == 4
    mine, interesting = (sum(int(row[at]) for row in won) for at in (0, 1))
    readme = (ROOT / "README.md").read_text()
    assert f"[{mine} of {interesting} cases](docs/run.md#decided-within-the-run)" in readme
