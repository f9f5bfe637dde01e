"""`autofinity run`: hands over to the native launcher.

The installed `autofinity` *is* the launcher and never comes here. This serves `python -m autofinity
run` and `autofinity-cli run`: the launcher takes the place of Python, arguments untouched.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

import click
from click.shell_completion import CompletionItem

from autofinity.cli.options.hint import completed
from autofinity.cli.options.program import program_files
from autofinity.cli.printer import complain
from autofinity.model.errors import LinuxError, UsageError
from autofinity.runtime.launcher import find_launcher

_OPTION = re.compile(r"^  (?:(-\w), )?(--[a-z-]+)(?: (\S+))?", re.MULTILINE)
"""An option in the launcher's help: its short name, its name, and its value's name."""


def options_of_run() -> dict[str, str]:
    """The launcher's options, each with the name of its value, or an empty one."""
    with suppress(LinuxError, OSError):
        words = [str(find_launcher()), "run", "--help-all"]
        told = subprocess.run(words, capture_output=True, text=True)
        found = _OPTION.findall(told.stdout)
        return {name: value for *names, value in found for name in names if name}
    return {}


class _Run(click.Command):
    """`run` to a shell that completes: the options are the launcher's."""

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Options, until there is a program."""
        if _before_program(ctx.params.get("arguments") or (), options_of_run()):
            return [
                CompletionItem(name) for name in options_of_run() if name.startswith(incomplete)
            ]
        return program_files(ctx, None, incomplete)


def _before_program(typed: tuple[str, ...], options: Mapping[str, str]) -> bool:
    """Whether all words so far are options and their values."""
    words = iter(typed)
    for word in words:
        if not word.startswith("-") or word == "--":
            return False
        if options.get(word):
            next(words, None)
    return True


def _values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion for the options of the launcher that take a hint, else files."""
    typed = ctx.params.get("arguments") or ("",)
    if typed[-1] in ("--hint", "--fallback"):
        return completed(incomplete)
    return program_files(ctx, param, incomplete)


@click.command(
    cls=_Run,
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, shell_complete=_values)
def command(arguments: tuple[str, ...]) -> None:
    """Run a program under the policy (options and program: see `run --help`)."""
    del arguments  # click has decoded and split them; the launcher gets what was typed
    typed = [os.fsencode(argument) for argument in sys.argv]
    after_run = typed[typed.index(b"run") + 1 :]
    _undo_python()
    try:
        launcher = os.fsencode(find_launcher())
    except LinuxError as error:
        _run_plainly(after_run, error)
        return
    os.execv(launcher, [launcher, b"run", *after_run])


def _undo_python() -> None:
    """Python ignores two signals, and what is ignored stays so over exec."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)


def _run_plainly(after_run: list[bytes], error: LinuxError) -> None:
    """The program comes first: without a launcher it runs as the system places it."""
    if b"--" not in after_run:
        raise UsageError(
            f"{error}; `autofinity run -- PROGRAM` starts the program without placement"
        )
    program = after_run[after_run.index(b"--") + 1 :]
    if not program:
        raise UsageError("no program to run; expected `autofinity run -- PROGRAM ...`")
    complain(f"{error}; the program runs as the system places it")
    try:
        os.execvp(program[0], program)
    except OSError as failure:
        name = os.fsdecode(program[0])
        complain(f"cannot run {name}: {failure.strerror}")
        sys.exit(127 if isinstance(failure, FileNotFoundError) else 126)
