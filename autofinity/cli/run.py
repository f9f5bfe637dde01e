"""`autofinity run`: hands over to the native launcher.

The installed `autofinity` *is* the launcher and never comes here. This serves `python -m autofinity
run` and `autofinity-cli run`: the launcher takes the place of Python, arguments untouched.
"""

from __future__ import annotations

import os
import signal
import sys

import click
from click.shell_completion import CompletionItem

from autofinity.cli.options.hint import completed
from autofinity.cli.printer import complain
from autofinity.model.errors import LinuxError, UsageError
from autofinity.runtime.launcher import find_launcher


def _values(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Shell completion for the options of the launcher that take a hint."""
    del param
    typed = ctx.params.get("arguments") or ("",)
    return completed(incomplete) if typed[-1] in ("--hint", "--fallback") else []


@click.command(
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
