"""System calls that the standard library lacks, by number, through the C library's `syscall`."""

from __future__ import annotations

import ctypes
import os

# Numbers of x86-64 and of the generic table (arm64, riscv64, loongarch64).
_X86_64 = {"perf_event_open": 298, "move_pages": 279}
_GENERIC = {"perf_event_open": 241, "move_pages": 239}

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def syscall(name: str, *arguments: object) -> int:
    """Result of the system call `name`. Raises `OSError` with the kernel's errno.

    Integers are passed as longs; ctypes pointers as they are.
    """
    machine = os.uname().machine
    number = (_X86_64 if machine == "x86_64" else _GENERIC)[name]
    converted = [
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    ]
    result = int(_libc.syscall(ctypes.c_long(number), *converted))
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
