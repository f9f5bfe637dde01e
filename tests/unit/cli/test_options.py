"""Options over all commands: few where many look, one spelling for one thing, and what is gone is
said to be, with what to use instead.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict

import click
import pytest
from click.testing import CliRunner

from autofinity.cli.help import SUBJECTS, Command
from autofinity.cli.main import COMMANDS, cli
from autofinity.cli.removed import REMOVED
from autofinity.cli.renamed import RENAMED, Renamed, in_present_words
from autofinity.cli.run import options_of_run
from autofinity.runtime.launcher import find_launcher

GONE = [
    (command, spelling, removed.instead)
    for removed in REMOVED
    for command in removed.commands
    for spelling in removed.spellings
]


def options(command: str) -> list[click.Option]:
    found = cli.get_command(click.Context(cli), command)
    assert found is not None
    return [option for option in found.params if isinstance(option, click.Option)]


OURS = [name for name in COMMANDS if name != "run"]
"""Commands whose options Python reads; those of `run` are the launcher's."""


def helped(command: str, how: str) -> list[str]:
    return CliRunner().invoke(cli, [command, how], terminal_width=80).output.splitlines()


@pytest.mark.parametrize("command", ["train", "evaluate", "advise"])
def test_what_most_people_call_has_few_options(command: str) -> None:
    assert len(options(command)) < 20, "one more is --help"
    assert len(helped(command, "--help-all")) <= 80


@pytest.mark.parametrize("command", OURS)
def test_help_is_one_screen_of_40_lines(command: str) -> None:
    shown = helped(command, "--help")
    assert max(map(len, shown)) <= 80
    assert len(shown) <= 40


@pytest.mark.parametrize("command", OURS)
def test_help_all_describes_every_option_below_its_subject(command: str) -> None:
    found = cli.get_command(click.Context(cli), command)
    assert isinstance(found, Command)
    longs = {next(name for name in option.opts if name[:2] == "--") for option in options(command)}
    assert longs <= {name for names in SUBJECTS.values() for name in names}
    assert set(found.more) <= longs
    common = described(helped(command, "--help"))
    if found.more:
        assert described(helped(command, "--help-all")) == longs | {"--help"}
        assert common == longs - set(found.more) | {"--help", "--help-all"}
    else:
        assert common == longs | {"--help"}


def test_help_all_of_the_program_lists_every_command_with_every_option() -> None:
    shown = CliRunner().invoke(cli, ["--help-all"], terminal_width=80).output
    assert max(map(len, shown.splitlines())) <= 80
    parts = re.split(r"^  (?=[a-z-]+: )", shown, flags=re.MULTILINE)[1:]
    listed = {part.partition(":")[0]: set(re.findall(r"--[a-z-]+", part)) for part in parts}
    assert list(listed) == list(COMMANDS)
    for command in OURS:
        longs = {name for option in options(command) for name in option.opts if name[:2] == "--"}
        assert listed[command] - {"--help-all"} == longs
    of_run = {name for name in options_of_run() if name.startswith("--")}
    assert listed["run"] == of_run - {"--help", "--help-all"}
    assert "--help-all" in CliRunner().invoke(cli, ["--help"]).output


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_all(command: str) -> None:
    done = subprocess.run(
        [find_launcher(), command, "--help-all"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"Usage: autofinity {command} ")
    assert done.stderr == ""


def described(lines: list[str]) -> set[str]:
    """Options that begin a line of help."""
    begun = (re.match(r"  (?:-\w, )?(--[a-z-]+)", line) for line in lines)
    return {found[1] for found in begun if found}


def test_no_option_stands_below_two_subjects() -> None:
    names = [name for names in SUBJECTS.values() for name in names]
    assert len(set(names)) == len(names)


def test_one_thing_is_spelled_in_one_way_by_all_commands() -> None:
    shorts: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    longs: dict[str, set[str]] = defaultdict(set)
    several: dict[str, set[bool]] = defaultdict(set)
    for command in COMMANDS:
        for option in options(command):
            short = tuple(name for name in option.opts if not name.startswith("--"))
            (long,) = (name for name in option.opts if name not in short)
            shorts[long].add(short)
            for letter in short:
                longs[letter].add(long)
            if command != "attach":  # one program, placed by one mechanism
                several[long].add(option.multiple)
    assert {long: found for long, found in shorts.items() if len(found) > 1} == {}
    assert {letter: found for letter, found in longs.items() if len(found) > 1} == {}
    assert {long: found for long, found in several.items() if len(found) > 1} == {}
    for long, short in (("threads", "t"), ("output", "o"), ("machine", "m"), ("program", "p")):
        assert shorts[f"--{long}"] == {(f"-{short}",)}


def test_every_command_that_prints_a_result_prints_it_as_json_too() -> None:
    without = {name for name in COMMANDS if "--json" not in {o.opts[0] for o in options(name)}}
    assert without == {"run", "attach", "export"}


@pytest.mark.parametrize(("command", "spelling", "instead"), GONE)
def test_an_option_that_is_gone_says_what_to_use(command: str, spelling: str, instead: str) -> None:
    known = {name for o in options(command) for name in (*o.opts, *o.secondary_opts)}
    assert spelling not in known
    said = CliRunner().invoke(cli, [command, f"{spelling}=1"], terminal_width=500)
    assert said.exit_code == 2
    assert said.output.splitlines()[-1] == f"Error: {spelling} was removed: {instead}"


def test_an_option_that_never_was_is_refused_as_click_does() -> None:
    said = CliRunner().invoke(cli, ["hints", "--warmup", "1"])
    assert said.exit_code == 2
    assert said.output.splitlines()[-1] == "Error: No such option '--warmup'."


@pytest.mark.parametrize("renamed", RENAMED, ids=lambda renamed: renamed.spelling)
def test_an_option_that_is_renamed_works_by_its_old_name_until_the_next_release(
    renamed: Renamed,
) -> None:
    for command in renamed.commands:
        known = {name for option in options(command) for name in option.opts}
        assert renamed.now in known and renamed.spelling not in known
        words = [renamed.spelling, "3", f"{renamed.spelling}=4", "--", renamed.spelling, "5"]
        assert in_present_words(command, words) == [
            *(renamed.now, f"3{renamed.unit}", f"{renamed.now}=4{renamed.unit}"),
            *("--", renamed.spelling, "5"),
        ]
    assert in_present_words("show", [renamed.spelling, "3"]) == [renamed.spelling, "3"]


def test_a_renamed_option_reaches_its_command() -> None:
    said = CliRunner().invoke(cli, ["simulate", "none", "--period-us", "x"], terminal_width=500)
    assert "xus: expected a length such as 500us" in said.output
