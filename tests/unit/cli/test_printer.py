"""Foreign text on the standard streams: one printer, which shows what a terminal would obey."""

from __future__ import annotations

import ast
import io
import json
from pathlib import Path

import pytest
from hostile_text import texts
from hypothesis import given

import autofinity.cli
from autofinity.cli.printer import complain, hand_over, page, say, say_json
from autofinity.foreign_text import one_line, printable

ROOM = Path(autofinity.cli.__file__).parent
OTHER_WAYS = ("print", "click.echo", "click.secho", "Console")
OTHER_WAYS += ("sys.stdout.write", "sys.stderr.write")


def test_nothing_else_in_the_command_line_prints() -> None:
    found = [
        f"{path.name}: {name}"
        for path in ROOM.rglob("*.py")
        if path.name != "printer.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in OTHER_WAYS
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\x9b2Jb", r"a\x9b2Jb"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("caf\udce9", r"caf\xe9"),
        ("half \ud800", r"half \ud800"),
        ("line\u2028break\r\n", r"line\u2028break\r\n"),
        ("café 漢字 │ · 12 µs", "café 漢字 │ · 12 µs"),
    ],
)
def test_what_a_terminal_would_obey_is_shown(text: str, shown: str) -> None:
    assert one_line(text) == shown


@given(texts(any_code=True))
def test_shown_text_is_printable_and_shown_once_is_as_shown_twice(text: str) -> None:
    shown = one_line(text)
    assert shown.isprintable() and one_line(shown) == shown
    assert printable(text).replace("\n", "").replace("\t", "").isprintable()
    assert printable(text).count("\n") == text.count("\n")


def test_every_way_to_a_stream_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "\x1b[2J\x9b\x85\x7f [bold]x[/bold] :smile:"
    plain = r"\x1b[2J\x9b\x85\x7f [bold]x[/bold] :smile:"
    say(hostile)
    say(hostile, err=True)
    page().print(hostile)
    complain(hostile + "\nautofinity: all is well")
    out, err = capsys.readouterr()
    assert out == f"{plain}\n{plain}\n"
    assert err == f"{plain}\nautofinity: {plain}\n  autofinity: all is well\n"
    say_json({hostile: hostile})
    out, _ = capsys.readouterr()
    assert out.strip().isascii() and out.strip().isprintable()
    assert json.loads(out) == {hostile: hostile}


def test_tables_take_foreign_text_for_data_and_stay_straight(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "n", title="[red]of\x1b[5m all[/red]", box=None)
    table.add_row("\x1b[2J[link=http://x]", "1")
    table.add_row(Text("\x9b[/b]"), "2")
    page().print(table)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].strip() == r"[red]of\x1b[5m all[/red]"
    assert lines[2].split() == [r"\x1b[2J[link=http://x]", "1"]
    assert lines[3].split() == [r"\x9b[/b]", "2"]
    assert lines[1].index("n", 6) == lines[2].rindex("1")


def test_a_file_goes_into_a_pipe_as_it_is_and_onto_a_terminal_readably(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand_over("a\x1bb\n")
    assert capsys.readouterr().out == "a\x1bb\n"

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    hand_over("a\x1bb\n")
    assert terminal.getvalue() == "a\\x1bb\n"
