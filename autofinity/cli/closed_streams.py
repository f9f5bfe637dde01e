"""Standard streams that were closed when we began (`autofinity … >&-`)."""

from __future__ import annotations

import fcntl
import os
import sys

from autofinity.model.errors import AutofinityError

_STAND_INS = {"stdin": os.O_RDWR, "stdout": os.O_RDONLY, "stderr": os.O_RDWR}
"""How /dev/null is opened for each stream, by its number. A result that is written to stdout would
be lost, so that writing there fails; notices on stderr may be lost."""


def stand_in_for_closed_streams() -> None:
    """Put /dev/null where a standard stream is closed, or the next file to be opened, a pipe or a
    database, would be taken for it.

    Programs that we start find the stream closed, as it was: the stand-in is not inherited.
    """
    for descriptor, (name, flags) in enumerate(_STAND_INS.items()):
        if not _is_open(descriptor):
            os.open(os.devnull, flags)  # of the lowest number that is free: this one
        if getattr(sys, name) is None:
            stand_in = os.open(os.devnull, flags)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(stand_in, mode, encoding="utf-8"))  # noqa: SIM115, PTH123


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def check_stdout() -> None:
    """Raise `AutofinityError` where a result that has to be written would be lost."""
    if not _takes_output():
        raise AutofinityError(
            "standard output is closed, and the result was to go there; expected an open one, or a "
            "file"
        )


def _takes_output() -> bool:
    try:
        flags = fcntl.fcntl(sys.stdout.fileno(), fcntl.F_GETFL)
    except (OSError, ValueError):
        return True  # a stream that has no descriptor, as in tests
    return flags & os.O_ACCMODE != os.O_RDONLY
