"""Pace at which the kernel unmaps a program's pages while NUMA hinting is on.

By default the pace depends on CPU time. The first sweep comes after a second of some thread's CPU
time. Sweeps then get ever rarer, up to a minute apart, while pages are found on the node of the
threads that use them, as is always so on a machine of one node. Measured (4 threads with a tenth of
a core each, Linux 6.18): sweeps at 10, 19 and 35 s. A mechanism that unmaps 10 % of the pages a
second (Diener et al., TPDS 2016, table 3) sweeps all pages once in 10 s.

    resident pages ─► how long a sweep may take ─► scan_period_min_ms, scan_period_max_ms

The settings are system-wide and need root: they are in debugfs from Linux 5.13 on, and sysctls
before. A kernel that is locked down (secure boot) refuses debugfs; then its own pace stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from autofinity.linux.kernel_file import read_text
from autofinity.ports import Interval, Outcome

DELAY, SHORTEST, LONGEST = "scan_delay_ms", "scan_period_min_ms", "scan_period_max_ms"
_FOLDERS = ("sys/kernel/debug/sched/numa_balancing/", "proc/sys/kernel/numa_balancing_")
_FIRST_MS = 100  # of a thread's CPU time
_FAULTS_PER_S = 5_000  # some thousandths of a core, in a program so small that it has them
_SWEEP_MS = (250, 10_000)  # whole seconds would be long for a small program; the paper's rate
_QUICKEST_SHARE = 0.1  # of the wanted sweep, where pages are far from the threads that use them
_MOST_QUICKEST_MS = 1_000  # the kernel's own default
_MATTERS = 1.25  # times longer or shorter


def pace_files(root: Path) -> Mapping[str, Path]:
    """Name of each setting → its file, where this kernel has it; `root` holds /sys and /proc."""
    found: dict[str, Path] = {}
    for name in (DELAY, SHORTEST, LONGEST):
        for folder in _FOLDERS:
            path = root / f"{folder}{name}"
            if path.exists():
                found.setdefault(name, path)
    return found


def at_first() -> Mapping[str, int]:
    """Settings for a program whose size is not known yet; the kernel decides how rare sweeps
    become.
    """
    return {DELAY: _FIRST_MS, SHORTEST: _FIRST_MS}


def sweep_ms(pages: int) -> int:
    """Time that a sweep over `pages` resident pages may take."""
    shortest, longest = _SWEEP_MS
    return min(max(shortest, pages * 1000 // _FAULTS_PER_S), longest)


class Pace:
    """An observer of a run's loop that sets the kernel's pace by the program's size."""

    def __init__(self, files: Mapping[str, Path], pid: int, procfs: Path = Path("/proc")) -> None:
        """`files` must be writable; the caller restores them."""
        self._files = files
        self._statm = procfs / str(pid) / "statm"
        self._sweep_ms = 0

    def saw(
        self, before: object, after: object, interval: Interval, outcome: Outcome | None
    ) -> None:
        """Adjust the settings when the program has grown or shrunk."""
        del before, after, interval, outcome
        fields = read_text(str(self._statm)).split()
        if len(fields) < 2:
            return  # the program is gone
        wanted = sweep_ms(int(fields[1]))
        if self._sweep_ms / _MATTERS < wanted < self._sweep_ms * _MATTERS:
            return
        self._sweep_ms = wanted
        quickest = min(max(_FIRST_MS, round(_QUICKEST_SHARE * wanted)), _MOST_QUICKEST_MS)
        for name, value in ((SHORTEST, quickest), (LONGEST, wanted)):
            if name in self._files:
                with suppress(OSError):  # slower or more costly, but the program goes on
                    self._files[name].write_text(f"{value}\n")
