"""Which programs of which suite with which input: options of every command that runs a suite."""

from __future__ import annotations

from pathlib import Path

import click

from autofinity.cli.options.names import several_names

suite_option = click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    default=None,
    help="Suite manifest (TOML).  [default: the shipped training suite]",
)
programs_option = click.option(
    "--program",
    "-p",
    "programs",
    metavar="NAME,…",
    multiple=True,
    callback=several_names,
    help="Use only these programs of the suite; may be repeated.",
)
size_option = click.option(
    "--size", default="small", show_default=True, help="Input size of the programs."
)


def _sizes(context: click.Context, option: click.Parameter, text: str) -> tuple[str, ...]:
    sizes = tuple(each.strip() for each in text.split(","))
    if not all(sizes) or len(set(sizes)) < len(sizes):
        raise click.BadParameter(
            f"got {text!r}; expected sizes such as small or llc,memory, each once"
        )
    return sizes


sizes_option = click.option(
    "--size",
    "sizes",
    default="small",
    show_default=True,
    callback=_sizes,
    help="Input sizes of the programs, such as small or llc,memory.",
)
