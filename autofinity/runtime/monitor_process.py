"""Whether a process is a monitor: checked before a process from a database is ended."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from autofinity.linux.identity import owners_of

MODULES = (b"autofinity.runtime.monitor", b"autofinity.mechanisms.monitor")
"""Modules of monitors that the launcher starts, as `python -m MODULE --pid PID …`."""
_INTERPRETERS = ("python", "pypy")
_STARTERS = (b"-m", b"own_python.py")
"""Words that precede the name of a module that is run."""
_SCRIPT = b"autofinity-cli"


def is_monitor(pid: int, watched: int) -> bool:
    """Whether process `pid` is a monitor, or `autofinity attach`, of process `watched`, in Python.

    The process must also be this user's (root: anybody's).
    """
    if os.geteuid() not in (0, *owners_of(pid)):
        return False
    try:
        executable = os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - as it is in /proc
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:-1]
    except OSError:
        return False
    ours = os.path.realpath("/proc/self/exe")
    is_python = executable == ours or Path(executable).name.startswith(_INTERPRETERS)
    return is_python and watches(words, watched)


def watches(words: Sequence[bytes], pid: int) -> bool:
    """Whether a Python interpreter with these arguments watches process `pid`."""
    wanted = str(pid).encode()
    for at, word in enumerate(words[1:], 1):
        runs_module = os.path.basename(words[at - 1]) in _STARTERS  # noqa: PTH119 - bytes
        rest = words[at + 1 :]
        if runs_module and word in MODULES:
            return dict(zip(rest[::2], rest[1::2], strict=False)).get(b"--pid") == wanted
        if (runs_module and word == b"autofinity") or os.path.basename(word) == _SCRIPT:  # noqa: PTH119
            return rest[:1] == [b"attach"] and wanted in rest
    return False
