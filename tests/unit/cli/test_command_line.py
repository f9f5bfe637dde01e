"""`autofinity` by itself: what it shows, completes and says of a mistyped command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from autofinity.cli.main import COMMANDS, SECTIONS, cli

CLI = Path(__file__).parents[3] / "autofinity" / "cli"


def test_every_command_is_in_one_section_of_the_help() -> None:
    assert sum(map(len, SECTIONS.values())) == len(COMMANDS)
    shown = CliRunner().invoke(cli, ["--help"]).output
    for title in SECTIONS:
        assert f"{title}:\n" in shown
    for name in COMMANDS:
        assert re.search(rf"(?:\n  |, ){name}\b", shown)
        assert (CLI / f"{name.replace('-', '_')}.py").is_file()


def test_all_commands_fit_on_a_screen() -> None:
    shown = CliRunner().invoke(cli, ["--help"], terminal_width=80).output.splitlines()
    assert len(shown) <= 45
    for line in COMMANDS.values():
        assert len(line) <= 60


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom autofinity.cli.main import cli\n"
        "try:\n    cli(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in sys.modules if m in ('numpy', 'autofinity.cli.train')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"


def test_a_mistyped_command_is_told_the_nearest_one() -> None:
    done = CliRunner().invoke(cli, ["tarin"])
    assert done.exit_code == 2
    assert "no command 'tarin'; did you mean 'train'?" in done.output
    assert "No such command 'xyzzy'" in CliRunner().invoke(cli, ["xyzzy"]).output


def test_commands_and_their_options_are_completed() -> None:
    complete = ShellComplete(cli, {}, "autofinity", "_AUTOFINITY_COMPLETE")
    assert [item.value for item in complete.get_completions([], "ex")] == ["explain", "export"]
    assert "--format" in {item.value for item in complete.get_completions(["export"], "--")}
    assert complete.get_completions(["tarin"], "--")  # no error in the middle of a line


def test_every_option_says_what_it_is_for_and_its_default_in_one_way() -> None:
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None and (command.help or name == "run")
        for option in command.params:
            if isinstance(option, click.Option):
                said = option.help or ""
                text, _, default = said.partition("  [default: ")
                assert text.endswith(".") or not default, (name, option.opts, said)
                assert said and not re.search(r"\(default|Default:|; default", text), said
                assert not default or (default.endswith("]") and not option.show_default), said


def test_a_binary_is_captured_without_naming_a_folder() -> None:
    capture = cli.get_command(click.Context(cli), "capture")
    assert capture is not None
    with capture.make_context("capture", ["--", "./app", "--its=own"]) as context:
        assert context.params["output"] == Path("traces")
        assert context.params["binary"] == ("./app", "--its=own")


def test_a_missing_package_of_others_is_named_and_no_fault_of_ours(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom autofinity.cli.errors import reported\n"
        "reported(lambda: __import__({name!r}))\n"
    )
    for name, said in (
        ("no_such_package.part", "no_such_package, which this command uses, is not installed"),
        ("autofinity.no_such_part", "internal error of autofinity"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", code.format(name=name)],
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
        )
        assert said in done.stderr
        assert done.returncode == (1 if "no_such_package" in name else 70)


@pytest.mark.parametrize(
    "words",
    [
        ("hints",),
        ("doctor",),
        ("topology",),
        ("status",),
        ("show", "any-machine"),
        ("figure", "-h"),
    ],
    ids=" ".join,
)
def test_a_command_of_every_day_loads_no_library_for_learning(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "autofinity", *words],
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "autofinity.cli.main" in loaded
    heavy = {"numpy", "pandas", "pyarrow", "scipy", "sklearn", "rustworkx", "jpype", "matplotlib"}
    assert loaded & heavy == set()
