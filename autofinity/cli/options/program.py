"""A program and its arguments on the command line, completed by the shell as files."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


def program_files(
    ctx: click.Context, param: click.Parameter | None, incomplete: str
) -> list[CompletionItem]:
    """Completion by the names of files."""
    del ctx, param
    return [CompletionItem(incomplete, type="file")]
