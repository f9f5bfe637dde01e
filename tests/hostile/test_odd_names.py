"""Names and values of no use are refused in words, with the exit code of wrong use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import autofinity as af
from autofinity.cli.main import cli
from autofinity.policy.files import loads

LONG = "m" * 300


@pytest.mark.parametrize(
    "words",
    [
        ("topology", "-m", LONG),
        ("hints", "-m", LONG),
        ("profile", "-m", LONG),
        ("evaluate", "-m", LONG),
        ("show", LONG),
        ("explain", LONG, "--sample", "instructions=1"),
    ],
)
def test_a_name_longer_than_a_files_is_unknown_as_others_are(words: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli, [*words])
    assert isinstance(done.exception, af.AutofinityError)
    assert done.exception.exit_code == 2
    assert "unknown machine" in str(done.exception) or "there is no policy" in str(done.exception)


def test_an_empty_name_of_an_output_file_is_refused_as_what_it_is() -> None:
    done = CliRunner().invoke(cli, ["explain", "any-machine", "-s", "instructions=1", "--html", ""])
    assert done.exit_code == 2 and "got '', expected a file" in done.output


@pytest.mark.parametrize("command", [("explain", "last"), ("top",)])
def test_a_fifo_is_no_database(tmp_path: Path, command: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / "db", 0o600)
    done = CliRunner().invoke(cli, [*command, "--db", str(tmp_path / "db")])
    assert isinstance(done.exception, af.AutofinityError)
    assert "it is no regular file" in str(done.exception)


@pytest.mark.parametrize("value", [3, None, b"packed", ["S"], 1.5])
def test_a_hint_of_another_type_is_refused_with_its_type(value: Any) -> None:
    with pytest.raises(ValueError, match=f"not a hint: a {type(value).__name__}; expected text"):
        af.Hint.parse(value)


def test_a_policy_that_is_nested_without_end_says_so() -> None:
    with pytest.raises(af.AutofinityError, match="content: lists and objects are nested too deep"):
        loads(b'{"provenance": ' + b"[" * 100_000)


def test_a_matrix_of_text_is_shown_shortened() -> None:
    with pytest.raises(af.AutofinityError) as error:
        af.map_threads("1 2;3 4" * 5000, "opteron-6164he")  # type: ignore[arg-type]
    assert len(str(error.value)) < 300
