"""What our standard streams still hold when a command is over: written, or said to be lost."""

from __future__ import annotations

import os
import sys


def flush_output() -> OSError | None:
    """Write what is left on stdout and stderr; why that failed, if it did.

    What could not be written is dropped with its stream, or Python would try again while it exits,
    say so in words of its own and end with a code of its own.
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
