"""`-o`, of every command that writes one file, or a folder of files, and what `-` means there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from autofinity.cli.closed_streams import check_stdout
from autofinity.whole_file import check_replaceable

STDOUT = "-"
"""In place of a file: standard output, where a command prints nothing else there."""


class OutputFile(click.Path):
    """A file to write. `-` is None where that is `stdout`, else refused with the reason: the
    command's own result is there. A file of that name is `./-`.
    """

    def __init__(self, *, folder: bool = False, stdout: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=folder)
        self._stdout = stdout

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path, or None."""
        if value == STDOUT and self._stdout:
            check_stdout()
            return None
        if value == STDOUT:
            self.fail(
                "got -, expected a file: standard output has what the command prints; a file of "
                "that name is ./-",
                param,
                ctx,
            )
        if not os.fspath(value):
            self.fail("got '', expected a file", param, ctx)
        path = super().convert(value, param, ctx)
        if not self.dir_okay:
            self._check(Path(os.fsdecode(path)), param, ctx)
        return path

    def _check(self, path: Path, param: click.Parameter | None, ctx: click.Context | None) -> None:
        """Fail where no file can be written there: before any work is done for it."""
        if not path.absolute().parent.is_dir():
            self.fail(f"{path}: there is no folder {path.parent}; expected one that is", param, ctx)
        try:
            check_replaceable(path)
        except OSError as error:
            self.fail(f"{path} cannot be written: {error.strerror}", param, ctx)


def output_option[**P, R](
    what: str,
    *,
    required: bool = False,
    folder: bool = False,
    stdout: bool = False,
    check: Callable[[Path], None] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """With the line of help that says what is written. `folder`: it may be a folder; `stdout`:
    without the option, and with `-`, it is written to standard output. `check` raises for a file
    that cannot be made, before any work is done for it.
    """

    def checked(_ctx: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
        if path is not None and check is not None:
            check(path)
        return path

    return click.option(
        "--output",
        "-o",
        type=OutputFile(folder=folder, stdout=stdout),
        default=None,
        required=required,
        callback=checked,
        help=what,
    )
