"""Starts a program that waits at a gate (`gated_program`), to be observed from its exec on."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from autofinity.own_python import own_environment, own_python


def start_gated(
    argv: Sequence[str], environment: Mapping[str, str], file_actions: Sequence[tuple[Any, ...]]
) -> tuple[int, int]:
    """The child, and a pipe to it. The child runs Python: its next exec, once a byte is written, is
    that of the program; when the pipe is closed without one, the child ends by itself.
    """
    go, ready = os.pipe2(os.O_CLOEXEC)
    sys.stdout.flush()
    sys.stderr.flush()
    os.set_inheritable(go, True)
    command = own_python("autofinity.linux.gated_program", str(go), *argv)
    pid = os.posix_spawn(
        sys.executable, command, own_environment(environment), file_actions=file_actions
    )
    os.close(go)
    return pid, ready
