"""Several sizes of inputs at once: each is a workload of its own."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from autofinity.cli.options.suite import sizes_option
from autofinity.workflow.profile import gather
from autofinity.workflow.wanted import wanted_on


@click.command()
@sizes_option
def _shown(sizes: tuple[str, ...]) -> None:
    click.echo(" ".join(sizes))


@pytest.mark.parametrize(
    ("given", "sizes"),
    [("small", "small"), ("llc,memory", "llc memory"), ("llc, core", "llc core")],
)
def test_sizes_are_separated_by_commas(given: str, sizes: str) -> None:
    result = CliRunner().invoke(_shown, ["--size", given])
    assert result.output == sizes + "\n"


@pytest.mark.parametrize("given", ["", ",", "small,", "small,small"])
def test_sizes_that_are_none_or_come_twice_are_refused(given: str) -> None:
    result = CliRunner().invoke(_shown, ["--size", given])
    assert result.exit_code == 2
    assert "expected sizes such as small" in result.output


def test_programs_are_observed_with_each_input(tmp_path: Path) -> None:
    wanted = wanted_on(
        "xeon-e5-2650", programs=("pricer",), sizes=("tiny", "small"), threads=(4,), work=tmp_path
    )
    table = gather(wanted)
    assert set(zip(table.program.text(), table.input.text(), strict=True)) == {
        ("pricer", "tiny"),
        ("pricer", "small"),
    }
