"""Tables on narrow terminals, in pipes and in logs: no cell is cut off, no word broken."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from rich.console import Console, OverflowMethod
from rich.table import Column, Table

from autofinity.cli.main import cli
from autofinity.cli.page import print_table
from autofinity.sim.preset import preset_names


def lines_of(width: int | None, *arguments: str) -> list[str]:
    env = {"COLUMNS": str(width) if width else None}
    done = CliRunner().invoke(cli, arguments, env=env)
    assert done.exit_code == 0, done.output
    return [line.rstrip() for line in done.output.splitlines()]


def test_in_a_pipe_every_machine_is_one_line() -> None:
    shown = [line.split() for line in lines_of(None, "machines") if line]
    assert [words[0] for words in shown[2:]] == list(preset_names())
    assert all(words[-1].endswith("%") for words in shown[2:])


@pytest.mark.parametrize("arguments", [("machines",), ("machines", "--sources")])
def test_the_machines_fit_into_80_columns_and_no_word_is_broken(arguments: tuple[str, ...]) -> None:
    lines = lines_of(80, *arguments)
    assert max(map(len, lines)) <= 80
    whole = {
        word for line in lines_of(None, *arguments) for word in line.split() if "─" not in word
    }
    assert whole == {word for line in lines for word in line.split() if "─" not in word}


@pytest.mark.parametrize("width", [1, 20, 40])
def test_on_any_terminal_all_columns_are_there(width: int) -> None:
    words = {word for line in lines_of(width, "machines") for word in line.split()}
    assert {"name", "model", "sockets", "PUs", "sourced", "xeon-x7550", "Ampere", "160"} <= words


def test_only_columns_that_fold_break_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    name = "long" * 20
    overflows: tuple[OverflowMethod, ...] = ("ellipsis", "fold")
    for overflow in overflows:
        table = Table(Column("name", overflow=overflow), Column("n"), box=None)
        table.add_row(name, "12345")
        print_table(table, Console(width=30, highlight=False))
        shown = capsys.readouterr().out
        assert (name in shown) == (overflow == "ellipsis")
        assert name in "".join(shown.replace("name", "").replace("12345", "").split())
        assert "12345" in shown
