"""Tables on narrow terminals, in pipes and in logs: nothing is lost, and few words broken."""

from __future__ import annotations

from collections import Counter

import pytest
from click.testing import CliRunner
from rich.cells import cell_len
from rich.console import Console, OverflowMethod
from rich.table import Column, Table

from autofinity.cli.main import cli
from autofinity.cli.page import print_table
from autofinity.report.chart import Chart
from autofinity.report.chart_text import chart_lines
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


HINTS_TABLES = (
    ("hints",),
    ("hints", "--as", "list"),
    ("hints", "-m", "opteron-6164he", "-t", "8"),
    ("hints", "-m", "opteron-6164he", "-t", "8", "-n", "4", "--hint", "packed"),
)


@pytest.mark.parametrize("arguments", HINTS_TABLES, ids=" ".join)
@pytest.mark.parametrize("width", [1, 24, 40, 60, 80, 100])
def test_no_character_of_a_table_is_lost_and_none_is_beyond_the_terminal(
    arguments: tuple[str, ...], width: int
) -> None:
    wide, narrow = lines_of(None, *arguments), lines_of(width, *arguments)
    letters = Counter(char for char in "".join(wide) if char.isascii() and not char.isspace())
    assert letters <= Counter("".join(narrow))
    if width >= 80:  # narrower terminals may break records, and the notes below a table
        assert max(map(len, narrow[:-2])) <= width


@pytest.mark.parametrize(
    ("word", "width", "lines"),
    [
        ("0,6,12,18,24", 8, ["0,6,12,", "18,24"]),
        ("{1,1}{1,1}{1}", 8, ["{1,1}", "{1,1}{1}"]),
        ("/usr/lib/python3", 12, ["/usr/lib/", "python3"]),
        ("abcdefghijkl", 8, ["abcdefgh", "ijkl"]),
    ],
)
def test_a_word_that_folds_is_broken_where_it_reads_best(
    word: str, width: int, lines: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table(Column("", overflow="fold"), box=None, pad_edge=False)
    table.add_row(word)
    print_table(table, Console(width=width, highlight=False))
    assert [line.strip() for line in capsys.readouterr().out.split("\n") if line.strip()] == lines


def test_sentences_are_left_out_where_they_would_be_narrow_and_a_line_says_where_they_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def printed(width: int) -> str:
        table = Table("run", "notes", box=None, pad_edge=False)
        table.add_row("7", "a sentence of some words that takes two lines or more")
        print_table(table, Console(width=width, highlight=False), {"notes": "see elsewhere"})
        return capsys.readouterr().out

    assert "sentence" in printed(45)
    assert [line.split() for line in printed(44).splitlines()] == [
        ["run"],
        ["7"],
        ["notes:", "see", "elsewhere,", "or", "a", "wider", "terminal"],
    ]


TITLE = "a title of several words that is wider than its table"


@pytest.mark.parametrize("width", [60, 10_000])
def test_a_title_is_not_broken_to_be_as_narrow_as_its_table(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table("n", title=TITLE, title_justify="left", box=None, pad_edge=False)
    table.add_row("1")
    print_table(table, Console(width=width, highlight=False))
    assert capsys.readouterr().out.split("\n") == [TITLE, "n", "1", ""]


def test_rows_in_a_pipe_end_where_their_text_does() -> None:
    done = CliRunner().invoke(cli, ["machines"], env={"COLUMNS": None})
    lines = done.output.splitlines()
    assert lines == [line.rstrip() for line in lines]


WIDE = "/家/研究者/並列計算/実行ファイル/熱伝導方程式"


@pytest.mark.parametrize("width", range(16, 64, 5))
def test_a_path_of_letters_that_take_two_columns_fits_and_loses_nothing(
    width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table(Column("program", overflow="fold"), Column("n"), box=None, pad_edge=False)
    table.add_row(WIDE, "12")
    table.add_row("/usr/bin/true", "3")
    print_table(table, Console(width=width))
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= width
    paths = "".join("".join(line.split()) for line in lines)
    assert paths.replace("12", "", 1).count(WIDE) == 1
    full = [cell_len(line[: line.rfind("  ")].rstrip()) for line in lines if "家" in line]
    assert full, "the path is there"


def test_a_letter_wider_than_its_column_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table(Column("p", overflow="fold", width=1), box=None)
    table.add_row("家研")
    print_table(table, Console(width=1))
    assert "".join(capsys.readouterr().out.split()).endswith("家研")


def test_a_chart_keeps_its_bars_below_each_other_whatever_the_letters() -> None:
    series = {"熱伝導方程式": (1.0,), "heat": (1.0,)}
    chart = Chart("実行", "threads", "t", ("8",), series)
    bars = [line for line in chart_lines(chart, 60) if "█" in line]
    assert len({cell_len(line[: line.index("█")]) for line in bars}) == 1
    assert max(map(cell_len, chart_lines(chart, 40))) <= 40
