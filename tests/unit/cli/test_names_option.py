"""Options that take several names: repeated, in lists with commas, or both."""

from __future__ import annotations

import click
import pytest
from click.testing import CliRunner

from autofinity.cli.main import COMMANDS, cli

NAMED = {
    f"{command} {option.opts[0]}": option
    for command in COMMANDS
    if (found := cli.get_command(click.Context(cli), command)) is not None
    for option in found.params
    if isinstance(option, click.Option) and option.multiple and "=" not in (option.metavar or "")
}
"""Every option that may be repeated and takes names, no settings."""


def test_there_are_such_options() -> None:
    assert {"compare --mechanism", "profile --program", "figure --program"} <= set(NAMED)


@pytest.mark.parametrize("where", NAMED)
def test_names_may_be_repeated_and_listed_and_count_once(where: str) -> None:
    option = NAMED[where]
    command = click.Command(where, params=[option], callback=lambda **read: click.echo(read))
    name = option.opts[0]
    done = CliRunner().invoke(command, [f"{name}=cg, lu", f"{name}=mg", f"{name}=lu"])
    assert done.output == f"{{{option.name!r}: ('cg', 'lu', 'mg')}}\n"
    empty = CliRunner().invoke(command, [f"{name}=cg,,lu"])
    assert empty.exit_code == 2
    assert "got 'cg,,lu'; expected names with a comma between two" in empty.output


def test_mechanisms_in_a_list_are_those_of_repeats() -> None:
    words = [["--mechanism", "tlb,kmaf16"], ["--mechanism", "kmaf16", "--mechanism", "tlb"]]
    once, twice = (CliRunner().invoke(cli, ["compare", "--list", *each]).output for each in words)
    assert once == twice
    assert [line.split()[0] for line in once.splitlines()] == ["os", "kmaf16", "tlb", "oracle"]
