"""How often the kernel takes a program's pages away while NUMA hinting is on.

Left to itself it goes by CPU time: first after a second of some thread's, then ever more rarely, up
to a minute between two sweeps, where it finds pages on the node of whoever uses them, as it always
does on a machine of one node. Measured (4 threads with a tenth of a core each, Linux 6.18): sweeps
at 10, 19 and 35 s. A mechanism that takes 10 % of the pages a second (Diener et al., TPDS 2016,
table 3) has swept them all once in 10 s.

    resident pages ─► how long a sweep may take ─► scan_period_min_ms, scan_period_max_ms

The settings are the whole system's, and root's: in debugfs from Linux 5.13 on, sysctls before. A
kernel that is locked down (secure boot) refuses debugfs; then its own pace stays.
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
_QUICKEST_SHARE = 0.1  # of a sweep as we want it, where pages are found far from their users
_MOST_QUICKEST_MS = 1_000  # the kernel's own default
_MATTERS = 1.25  # times longer or shorter


def pace_files(root: Path = Path("/")) -> Mapping[str, Path]:
    """Name of each setting → its file, where this kernel has it; `root` holds /sys and /proc."""
    found: dict[str, Path] = {}
    for name in (DELAY, SHORTEST, LONGEST):
        for folder in _FOLDERS:
            path = root / f"{folder}{name}"
            if path.exists():
                found.setdefault(name, path)
    return found


def at_first() -> Mapping[str, int]:
    """For a program whose size nobody knows yet; how rare sweeps become is the kernel's to say."""
    return {DELAY: _FIRST_MS, SHORTEST: _FIRST_MS}


def sweep_ms(pages: int) -> int:
    """How long a sweep over so many resident pages may take."""
    shortest, longest = _SWEEP_MS
    return min(max(shortest, pages * 1000 // _FAULTS_PER_S), longest)


class Pace:
    """An observer of a run's loop: keeps the kernel's pace as the program's size asks for."""

    def __init__(self, files: Mapping[str, Path], pid: int, procfs: Path = Path("/proc")) -> None:
        """`files` may be written, and somebody else puts them back."""
        self._files = files
        self._statm = procfs / str(pid) / "statm"
        self._sweep_ms = 0

    def saw(
        self, before: object, after: object, interval: Interval, outcome: Outcome | None
    ) -> None:
        """One look: the settings follow when the program has grown or shrunk."""
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
                with suppress(OSError):  # slower or dearer, and the program goes on
                    self._files[name].write_text(f"{value}\n")
