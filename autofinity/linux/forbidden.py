"""System calls that a seccomp filter forbids on pain of death (systemd's `SystemCallFilter=`): a
process cannot ask, so a child tries. The launcher does the same (`aside.c`).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable
from functools import cache

from autofinity.linux.kernel_file import read_text
from autofinity.linux.syscalls import syscall


def is_filtered() -> bool:
    """Whether a seccomp filter is on this process."""
    return "\nSeccomp:\t2\n" in read_text("/proc/self/status")


def ends_us(attempt: Callable[[], object]) -> bool:
    """Whether a filter ends whoever makes that attempt; what else comes of it does not count."""
    if not is_filtered():
        return False
    child = os.fork()
    if child == 0:
        # No core file, and nothing of ours is tidied up twice.
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            attempt()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@cache
def perf_ends_us() -> bool:
    """Whether that holds of perf_event_open."""
    return ends_us(lambda: syscall("perf_event_open", 0, 0, -1, -1, 0))
