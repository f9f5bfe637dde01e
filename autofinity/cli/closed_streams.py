"""Standard streams that were closed when we began (`autofinity … >&-`)."""

from __future__ import annotations

import os
import sys

from autofinity.model.errors import AutofinityError

_NAMES = ("stdin", "stdout", "stderr")


def stand_in_for_closed_streams() -> None:
    """Put /dev/null where a standard stream is closed, or the next file to be opened, a pipe or a
    database, would be taken for it.

    Programs that we start find the stream closed, as it was: the stand-in is not inherited.
    """
    for descriptor, name in enumerate(_NAMES):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
            if opened != descriptor:  # something of Python's own is there by now
                os.close(opened)
        if getattr(sys, name) is None:
            mode = "w" if descriptor else "r"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def check_stdout() -> None:
    """Raise `AutofinityError` where a result that has to be written would be lost."""
    if getattr(sys.stdout, "name", "") == os.devnull:  # the stand-in; one of a shell has a number
        raise AutofinityError(
            "standard output is closed, and the result was to go there; expected an open one, or a "
            "file"
        )
