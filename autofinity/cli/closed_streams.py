"""Standard streams that were closed when we began (`autofinity … >&-`)."""

from __future__ import annotations

import os
import sys

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
