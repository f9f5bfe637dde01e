"""`-` in place of a file: standard output where a command prints nothing else, else refused."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from autofinity.cli.main import COMMANDS, cli
from autofinity.cli.options.output import OutputFile
from autofinity.model.errors import UsageError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path


def call(*words: str) -> Result:
    return CliRunner().invoke(cli, words, terminal_width=500)


def written() -> list[tuple[str, str]]:
    """Commands and their options that name a file to write."""
    found = []
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        found += [
            (name, option.opts[0])
            for option in command.params
            if isinstance(option.type, OutputFile)
        ]
    return found


TO_STDOUT = {("export", "--output"), ("record-machine", "--output")}


def test_every_option_that_writes_a_file_knows_the_dash() -> None:
    found = set(written())
    assert found >= TO_STDOUT | {
        (command, option)
        for option, commands in {
            "--html": "evaluate explain advise compare detect",
            "--svg": "topology map",
            "--output": "train rules rebuild table profile detect map compare figure coverage",
        }.items()
        for command in commands.split()
    }


@pytest.mark.parametrize(("command", "option"), sorted(set(written()) - TO_STDOUT))
def test_a_dash_is_refused_where_standard_output_has_the_result(
    command: str, option: str, here: Path
) -> None:
    done = call(command, option, "-")
    assert done.exit_code == 2
    assert "got -, expected a file" in done.output
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "reads"),
    [
        (("export", "any-machine", "--format", "json", "-o", "-"), json.loads),
        (("status", "--metrics", "-"), lambda text: text.endswith("# EOF\n") or 1 / 0),
    ],
)
def test_a_dash_is_standard_output_where_nothing_else_is_printed(
    words: tuple[str, ...], reads: object, here: Path
) -> None:
    done = call(*words)
    assert done.exit_code == 0, done.output
    assert callable(reads) and reads(done.stdout)
    assert list(here.iterdir()) == []


def test_a_machine_is_recorded_to_standard_output(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made:
        text = "name = 'host'\n"

    def recorded(name: str, **how: object) -> Made:
        assert (name, how["output"]) == ("host", None)
        return Made()

    monkeypatch.setattr("autofinity.workflow.record_machine.record_machine", recorded)
    assert tomllib.loads(call("record-machine", "-o", "-").stdout) == {"name": "host"}
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    "command", ["status", "top", "explain last", "attach 1", "push", "rebuild"]
)
def test_a_dash_is_no_database(command: str, here: Path) -> None:
    done = call(*command.split(), "--db", "-")
    assert done.exit_code == 2 or isinstance(done.exception, UsageError)
    assert "got -, expected a file" in done.output or "got -; expected" in str(done.exception)
    assert list(here.iterdir()) == []
