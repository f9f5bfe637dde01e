"""Identity of the process that a pid means: pids are reused, and restart in each boot and
namespace.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

from autofinity.linux.kernel_file import read_text
from autofinity.linux.proc import parse_stat

_HIDDEN = "@"
"""Stands before a host's name that replaces a boot that is hidden (systemd's `ProcSubset=pid`): the
first PID namespaces of all hosts have the same number."""
_THREADS = 17  # place of their number in a stat line, counted after the name


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process by its pid and its start; equal only for one and the same process."""

    host: str
    """Boot, or the host's name where the boot is hidden, and PID namespace."""
    pid: int
    start_ticks: int
    """Clock ticks since boot, in every time namespace; 0: the process had ended before it was
    read."""

    @property
    def alive(self) -> bool:
        """Whether this very process still runs (zombies do not)."""
        return bool(self.start_ticks) and identity_of(self.pid) == self


def identity_of(pid: int) -> ProcessIdentity:
    """The process that has this pid now."""
    return ProcessIdentity(this_host(), pid, start_ticks_of(pid) or 0)


def owners_of(pid: int) -> tuple[int, ...]:
    """Real and effective user of a process, by number; empty when it has ended."""
    for line in read_text(f"/proc/{pid}/status").splitlines():
        if line.startswith("Uid:"):
            return tuple(map(int, line.split()[1:3]))
    return ()


def this_host() -> str:
    """Boot and PID namespace of the caller: pids are comparable where this text is equal."""
    try:
        namespace = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116 - as proc.py
    except OSError:
        namespace = 0
    boot = read_text("/proc/sys/kernel/random/boot_id").strip()
    return f"{boot or _HIDDEN + os.uname().nodename} {namespace}"


def boot_of(host: str) -> str:
    """The boot that a text of `this_host` names; empty where it is hidden."""
    boot = host.partition(" ")[0]
    return "" if boot.startswith(_HIDDEN) else boot


def start_ticks_of(pid: int) -> int | None:
    """Start of a process or thread in clock ticks since boot; None when it has ended."""
    text = read_text(f"/proc/{pid}/stat")
    try:
        task = parse_stat(text, pid)
        fields = text[text.rindex(")") + 2 :].split()
        # A process whose first thread has ended is a zombie with further threads.
        return None if fields[0] in "ZX" and int(fields[_THREADS]) < 2 else task.started
    except (ValueError, IndexError):
        return None
