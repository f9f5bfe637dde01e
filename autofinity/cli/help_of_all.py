"""`autofinity --help-all`: every command with the names of its options, by subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import wrap

import click

from autofinity.cli.help import SUBJECTS
from autofinity.cli.run import options_of_run


def write_commands(
    ctx: click.Context,
    formatter: click.HelpFormatter,
    sections: Mapping[str, Mapping[str, str]],
) -> None:
    """All commands below the titles of their sections; options that every command has are left
    out.
    """
    group = ctx.command
    assert isinstance(group, click.Group)
    for title, commands in sections.items():
        with formatter.section(title):
            for name, line in commands.items():
                _write_filled(formatter, f"{name}: {line}")
                names = options_of_run() if name == "run" else _names(group, ctx, name)
                with formatter.indentation():
                    for subject, some in _by_subject(names).items():
                        _write_filled(formatter, f"{subject}: {', '.join(some)}")
    formatter.write_paragraph()
    formatter.write_text("`autofinity COMMAND --help-all` describes the options of a command.")


def _names(group: click.Group, ctx: click.Context, name: str) -> list[str]:
    """Long names of a command's options."""
    command = group.get_command(ctx, name)
    assert command is not None
    return [
        next((each for each in param.opts if each.startswith("--")), param.opts[-1])
        for param in command.params
        if isinstance(param, click.Option) and not param.hidden
    ]


def _by_subject(names: Iterable[str]) -> dict[str, list[str]]:
    given = {*names} - {"--help", "--help-all"}
    found = {
        subject: [name for name in known if name in given] for subject, known in SUBJECTS.items()
    }
    return {subject: some for subject, some in found.items() if some}


def _write_filled(formatter: click.HelpFormatter, text: str) -> None:
    """Lines that never break a name at a hyphen, as `write_text` does."""
    margin = " " * formatter.current_indent
    lines = wrap(
        *(text, formatter.width),
        initial_indent=margin,
        subsequent_indent=f"{margin}    ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    formatter.write("\n".join(lines) + "\n")
