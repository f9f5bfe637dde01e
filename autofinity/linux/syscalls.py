"""System calls that the standard library lacks, by number, through the C library's `syscall`."""

from __future__ import annotations

import ctypes
import errno
import os

_GENERIC = {"perf_event_open": 241, "move_pages": 239}
_POWER = {"perf_event_open": 319, "move_pages": 301}
_NUMBERS = {
    "x86_64": {"perf_event_open": 298, "move_pages": 279},
    "aarch64": _GENERIC,
    "riscv64": _GENERIC,
    "loongarch64": _GENERIC,
    "ppc64le": _POWER,
    "ppc64": _POWER,
    "s390x": {"perf_event_open": 331, "move_pages": 310},
}
"""Numbers by `uname -m`."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(name: str, *arguments: object) -> int:
    """Result of the system call `name`. Raises `OSError` with the kernel's errno; with ENOSYS on an
    architecture whose numbers are not known here, where another call would be made.

    Integers are passed as longs; ctypes pointers as they are.
    """
    machine = os.uname().machine
    if machine not in _NUMBERS:
        raise OSError(errno.ENOSYS, f"{name} has no known number on {machine}")
    number = _NUMBERS[machine][name]
    converted = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    result = int(_libc.syscall(ctypes.c_long(number), *converted))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
