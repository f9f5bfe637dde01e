"""Options over all commands: few where many look, one spelling for one thing, and what is gone is
said to be, with what to use instead.
"""

from __future__ import annotations

from collections import defaultdict

import click
import pytest
from click.testing import CliRunner

from autofinity.cli.main import COMMANDS, cli
from autofinity.cli.removed import REMOVED

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


@pytest.mark.parametrize("command", ["train", "evaluate", "advise"])
def test_what_most_people_call_shows_no_more_than_a_screen(command: str) -> None:
    assert len(options(command)) < 20, "one more is --help"
    shown = CliRunner().invoke(cli, [command, "--help"], terminal_width=80).output.splitlines()
    assert max(map(len, shown)) <= 80
    assert len(shown) <= 60


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
