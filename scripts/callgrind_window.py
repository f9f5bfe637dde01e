"""What callgrind counts of a script that runs under it with `--instr-atstart=no`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def counted() -> Iterator[None]:
    """Instructions are counted as long as this lasts. Raises `CalledProcessError` outside of it."""
    _switch("on")
    yield
    _switch("off")


def _switch(instrumentation: str) -> None:
    command = ["callgrind_control", "--instr=" + instrumentation, str(os.getpid())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
