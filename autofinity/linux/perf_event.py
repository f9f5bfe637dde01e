"""One event of perf_event_open, counted or sampled.

Source: perf_event_open(2) and linux/perf_event.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

from autofinity.linux.event_tables import Encoding
from autofinity.linux.forbidden import perf_ends_us
from autofinity.linux.syscalls import syscall

# perf_event_attr up to config2 (PERF_ATTR_SIZE_VER1, Linux 2.6.33).
_ATTR_BYTES = 72
_DISABLED, _INHERIT, _EXCLUDE_KERNEL, _EXCLUDE_HV = 1 << 0, 1 << 1, 1 << 5, 1 << 6
_FREQUENCY, _ENABLE_ON_EXEC, _TASK, _WATERMARK = 1 << 10, 1 << 12, 1 << 13, 1 << 14
_NAMES_ALL, _SWITCHES = 1 << 18, 1 << 26  # sample_id_all, context_switch
_PRECISE = 2 << 15  # no skid; 3 would demand a distribution of instructions as well
_TOTAL_TIMES, _GROUP = 0b011, 0b1000
_FD_CLOEXEC = 1 << 3


@dataclass(frozen=True, slots=True)
class Sampling:
    """Records that an event writes into a ring, instead of being counted."""

    period: int
    """Events from one record to the next; with `by_frequency`, records a second."""
    content: int
    """PERF_SAMPLE_* of a record."""
    by_frequency: bool = False
    wake_bytes: int = 0
    """Bytes of records that wake the reader; 0: none do."""
    with_births: bool = False
    """Whether new threads have records, too."""
    config1: int = 0
    config2: int = 0
    precise: bool = False
    """Whether the address belongs to the very instruction."""
    users_only: bool = True
    """Otherwise the kernel is sampled, too, which needs privileges."""
    names_all: bool = False
    """Whether all records name their thread, time and CPU."""
    with_switches: bool = False
    """Whether switches of threads have records, too."""


_COUNTED = Sampling(0, 0)


def open_event(
    encoding: Encoding,
    tid: int,
    group: int = -1,
    *,
    cpu: int = -1,
    inherit: bool = False,
    disabled: bool = False,
    at_exec: bool = False,
    sampling: Sampling = _COUNTED,
) -> int:
    """Descriptor of one event on thread `tid` (0: the caller), on one CPU or any. Raises `OSError`.

    A `disabled` leader holds its whole group back until the leader is enabled, or until the program
    execs (`at_exec`).
    """
    flags = {
        _INHERIT: inherit,
        _DISABLED: disabled,
        _ENABLE_ON_EXEC: at_exec,
        _TASK: sampling.with_births,
        _WATERMARK: sampling.wake_bytes > 0,
        _FREQUENCY: sampling.by_frequency,
        _PRECISE: sampling.precise,
        _NAMES_ALL: sampling.names_all,
        _SWITCHES: sampling.with_switches,
        _EXCLUDE_KERNEL | _EXCLUDE_HV: sampling.users_only,
    }
    attr = ctypes.create_string_buffer(
        struct.pack(
            "IIQQQQQIIQQ",
            encoding.type,
            _ATTR_BYTES,
            encoding.config,
            sampling.period,
            sampling.content,
            0 if sampling.period else _TOTAL_TIMES | _GROUP,
            sum(flag for flag, wished in flags.items() if wished),
            sampling.wake_bytes,
            0,
            sampling.config1,
            sampling.config2,
        ),
        _ATTR_BYTES,
    )
    if perf_ends_us():
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))
    return syscall("perf_event_open", ctypes.byref(attr), tid, cpu, group, _FD_CLOEXEC)
