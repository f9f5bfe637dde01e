"""A hint on the command line: by name or letters, offered by the shell."""

from __future__ import annotations

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from autofinity.cli.main import cli
from autofinity.model.affinity import HINTS
from autofinity.model.errors import UsageError


def offered(*words: str) -> list[str]:
    *typed, begun = words
    complete = ShellComplete(cli, {}, "autofinity", "_AUTOFINITY_COMPLETE")
    return [item.value for item in complete.get_completions(typed, begun)]


@pytest.mark.parametrize(
    "words",
    [
        ("hints", "--hint"),
        ("topology", "--hint"),
        ("simulate", "--hint"),
        ("map", "--hint"),
        ("detect", "--hint"),
        ("attach", "--hint"),
        ("attach", "--fallback"),
        ("run", "--hint"),
        ("run", "-t", "2", "--fallback"),
    ],
    ids=" ".join,
)
def test_the_shell_is_offered_names_and_letters(words: tuple[str, ...]) -> None:
    everything = [*(hint.name for hint in HINTS), *map(str, HINTS)]
    assert offered(*words, "") == everything
    assert offered(*words, "pa") == ["packed"]
    assert offered(*words, "PA") == ["packed"]
    assert offered(*words, "sL") == ["sLP", "sLp"]


@pytest.mark.parametrize(
    "words",
    [("run",), ("run", "--hint", "packed"), ("run", "--"), ("run", "./app"), ("capture", "--")],
    ids=" ".join,
)
def test_a_program_and_its_arguments_are_offered_files(words: tuple[str, ...]) -> None:
    complete = ShellComplete(cli, {}, "autofinity", "_AUTOFINITY_COMPLETE")
    found = complete.get_completions([*words], "")
    assert [(item.type, item.value) for item in found] == [("file", "")]


def test_options_of_the_launcher_are_offered_before_the_program() -> None:
    assert offered("run", "--hi") == ["--hint"]
    assert offered("run", "-t", "2", "--no-") == ["--no-db"]
    assert "--hint" not in offered("run", "--no-db", "./app", "--hi")


@pytest.mark.parametrize(
    ("given", "letters"), [("Packed", "slp"), ("slp", "slp"), ("none", "none")]
)
def test_a_second_look_is_asked_for_by_name_or_letters(given: str, letters: str) -> None:
    rules = cli.get_command(click.Context(cli), "rules")
    assert rules is not None
    probe = next(option for option in rules.params if option.name == "probe")
    assert probe.type.convert(given, probe, None) == letters
    with pytest.raises(UsageError, match="own-caches-many-sockets"):
        probe.type.convert("sideways", probe, None)
    refused = r"spread \(SLP\) is not allowed here; expected none, .*packed \(slp\)"
    with pytest.raises(click.BadParameter, match=refused):  # a run starts there: no second look
        probe.type.convert("spread", probe, None)


def test_help_names_the_hint_of_the_second_look() -> None:
    said = " ".join(CliRunner().invoke(cli, ["rules", "--help-all"]).stdout.split())
    assert "--probe HINT|none" in said
    assert "[default: few-sockets-shared-caches (slP)]" in said


def test_every_option_that_is_a_hint_reads_names() -> None:
    found = 0
    for name in cli.list_commands(click.Context(cli)):
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        for option in command.params:
            if option.name in ("hint", "fallback"):
                found += 1
                assert option.type.name == "hint", f"{name} --{option.name}"
                assert option.type.convert("Packed", option, None) == HINTS[-1]
    assert found == 7


def test_a_fallback_of_the_environment_may_be_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from autofinity.cli.options.run import fallback_of

    monkeypatch.setenv("AUTOFINITY_FALLBACK", "PACKED")
    assert fallback_of(None) == HINTS[-1]
    assert fallback_of(HINTS[0]) == HINTS[0]
    monkeypatch.setenv("AUTOFINITY_FALLBACK", "")
    assert fallback_of(None) is None
