"""A program where a command expects a file of ours is refused, with the right command."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.errors import AutofinityError, UsageError


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "app"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return "./app"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("advise", "./app is a program, not a trace; expected `cli advise -- ./app`"),
        ("detect", "./app is a program, not a trace; expected `cli detect -- ./app`"),
        ("simulate", "expected `autofinity capture -o FOLDER -- ./app`"),
        ("explain", "expected `autofinity run -- ./app` and `autofinity explain last`"),
    ],
)
def test_a_program_in_place_of_a_file_of_ours_is_given_after_dashes(
    app: str, command: str, said: str
) -> None:
    with pytest.raises(UsageError) as error:
        CliRunner().invoke(cli, [command, app], catch_exceptions=False)
    assert said in str(error.value)


def test_a_command_on_path_is_a_program_too_and_a_folder_is_none(app: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="sh is a program, not a trace; expected `cli advise --"):
        CliRunner().invoke(cli, ["advise", "sh"], catch_exceptions=False)
    (tmp_path / "sh").mkdir()
    with pytest.raises(AutofinityError, match="holds no complete trace"):
        CliRunner().invoke(cli, ["advise", "sh"], catch_exceptions=False)


def test_a_sample_beside_a_run_is_refused_as_such() -> None:
    with pytest.raises(UsageError, match="a run has its own samples"):
        CliRunner().invoke(cli, ["explain", "last", "-s", "ipc=1"], catch_exceptions=False)
