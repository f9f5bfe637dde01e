"""A program where a command expects a file of ours: says how the program is given instead."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from autofinity.foreign_text import one_line
from autofinity.model.errors import UsageError


def refuse_program(given: Path, expected: str, instead: str) -> None:
    """Raise `UsageError` where `given` is a program: an executable file, or where there is no such
    file, a command on PATH. `{}` in `instead` stands for the program.
    """
    try:
        is_there = given.exists()
    except OSError:  # a name that is too long
        is_there = False
    if is_there:
        is_program = given.is_file() and os.access(given, os.X_OK)
    else:
        is_program = given.name == str(given) and shutil.which(str(given)) is not None
    if is_program:
        name = one_line(str(given))
        if is_there and os.sep not in name:
            name = f"./{name}"
        raise UsageError(f"{name} is a program, not {expected}; expected `{instead.format(name)}`")
