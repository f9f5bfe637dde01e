"""Output that our standard streams still hold when a command is over: written, or reported lost."""

from __future__ import annotations

import os
import sys

from autofinity.cli.printer import complain
from autofinity.foreign_text import one_line


def flush_output() -> OSError | None:
    """Write what is left on stdout and stderr; why that failed, if it did.

    Output that could not be written is dropped with its stream. Otherwise Python would try again
    while it exits, print its own message and end with its own code.
    """
    lost: OSError | None = None
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            lost = lost or error
            _drop(stream.fileno())
            stream.flush()
        except ValueError:  # it is closed
            continue
    return lost


def _drop(descriptor: int) -> None:
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    os.dup2(null, descriptor)
    os.close(null)


def complain_unwritten(what: str, error: OSError) -> None:
    """Say that `what` could not be written, and to which file, where it was for one."""
    flush_output()  # what is left of it is dropped
    to = f" to {one_line(str(error.filename))}" if error.filename else ""
    complain(f"{what} could not be written{to}: {error.strerror}")
    flush_output()
