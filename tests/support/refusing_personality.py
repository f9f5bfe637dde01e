"""Run a command that must not change its personality(2), as in Docker's default container.

    python refusing_personality.py COMMAND ARGUMENT…

Ends with 75 where the kernel permits no such filter.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

CANNOT = 75
_NUMBER = {"x86_64": 135, "aarch64": 92}  # of the system call
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06  # classic BPF
_NUMBER_AT, _FIRST_ARGUMENT_AT = 0, 16  # in struct seccomp_data
_ALLOW, _FAIL = 0x7FFF0000, 0x00050000
_QUESTION = 0xFFFFFFFF  # personality(this) asks, and is let through
_EPERM = 1
_SET_SECCOMP, _SECCOMP_FILTER, _NO_NEW_PRIVILEGES = 22, 2, 38


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _instruction(code: int, value: int, if_equal: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_equal, if_not, value)


def refuse(number: int) -> bool:
    """Refuse it from now on, in this process and its children. False where that is not allowed."""
    code = ctypes.create_string_buffer(
        _instruction(_LOAD, _NUMBER_AT)
        + _instruction(_JUMP_IF_EQUAL, number, if_not=3)
        + _instruction(_LOAD, _FIRST_ARGUMENT_AT)
        + _instruction(_JUMP_IF_EQUAL, _QUESTION, if_equal=1)
        + _instruction(_RETURN, _FAIL | _EPERM)
        + _instruction(_RETURN, _ALLOW)
    )
    filter_ = _Filter(6, ctypes.cast(code, ctypes.c_void_p))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    return (
        prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0
        and prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(filter_), 0, 0) == 0
    )


if __name__ == "__main__":
    if platform.machine() not in _NUMBER or not refuse(_NUMBER[platform.machine()]):
        sys.exit(CANNOT)
    os.execvp(sys.argv[1], sys.argv[1:])
