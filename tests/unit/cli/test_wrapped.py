"""Sentences keep to the width of a terminal, and lose nothing."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from autofinity.cli.main import cli
from autofinity.cli.wrapped import wrapped

SAMPLE = "instructions=1e9,llc_requests=5e7,cache_to_cache_transfers_other_llc=1e4"
COMMANDS = {
    "hints": "hints",
    "show": "show any-machine",
    "words": "show any-machine --words",
    "explain": f"explain any-machine --sample {SAMPLE} --second instructions=1.1e9",
}


@given(st.text(alphabet="ab 字,", max_size=60), st.integers(5, 30), st.integers(0, 4))
def test_no_word_is_lost_or_broken(line: str, width: int, hang: int) -> None:
    pieces = list(wrapped(line, width, hang))
    assert " ".join(pieces).split() == line.split()
    assert len(pieces) == 1 or all(piece.strip() for piece in pieces)


def test_what_goes_on_stands_further_in() -> None:
    line = "  rule 1: threads share   (measured 3)"
    assert list(wrapped(line, 24, 2)) == ["  rule 1: threads share", "    (measured 3)"]


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("columns", [66, 80])
def test_lines_are_no_wider_than_the_terminal(
    words: str, columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    done = CliRunner().invoke(cli, words.split())
    assert done.exit_code == 0, done.output
    assert max(map(len, done.stdout.splitlines())) <= columns


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_pipe_has_no_width(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    done = CliRunner().invoke(cli, words.split())
    assert max(map(len, done.stdout.splitlines())) > 80
