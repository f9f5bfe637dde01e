"""Whether NUMA hinting does anything: pages that the kernel unmapped, so that they fault again.

Linux may unmap none although hinting is on. Measured with Linux 6.18 on a machine of one node:
while any cpuset exists beside the root one, `numa_pte_updates` stays as it is, for there is no
other node where pages could go; without one, pages are unmapped as ever.
"""

from __future__ import annotations

from pathlib import Path

from autofinity.linux.kernel_file import read_text

NOTHING_UNMAPPED = (
    "NUMA hinting is on, but the kernel unmapped no page (numa_pte_updates of /proc/vmstat), so "
    "page faults show no sharing: a program that ends early sees none unmapped, and recent kernels "
    "(Linux 6.18) unmap none where memory is on one node and a cpuset exists"
)
_UPDATES = ("numa_pte_updates", "numa_huge_pte_updates")


def unmapped_pages(procfs: Path = Path("/proc")) -> int | None:
    """Number of page table entries that hinting has changed since the system started; None where
    the count is not shown.
    """
    rows = (line.split() for line in read_text(str(procfs / "vmstat")).splitlines())
    found = [int(row[1]) for row in rows if len(row) == 2 and row[0] in _UPDATES]
    return sum(found) if found else None
