"""System calls for which a seccomp filter ends the process (systemd's `SystemCallFilter=`).

A process cannot ask for the filter's rules, so a child tries the call. The launcher does the same
(`aside.c`).
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
    """Whether a filter ends a process that makes this attempt; any other result is ignored."""
    if not is_filtered():
        return False
    child = os.fork()
    if child == 0:
        # No core file, and no clean-up of ours runs twice.
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            attempt()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@cache
def perf_ends_us() -> bool:
    """Whether a filter ends a process that calls perf_event_open."""
    return ends_us(lambda: syscall("perf_event_open", 0, 0, -1, -1, 0))
