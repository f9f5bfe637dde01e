"""Times on one common clock: in a time namespace the time since boot is shifted.

/proc shifts the start of a process by the namespace of the reader. Records therefore hold the time
of the machine's own clock, so that a reader from another namespace finds the same process.
"""

from __future__ import annotations

import os
from functools import cache

from autofinity.linux.kernel_file import read_text

_NAMESPACES = ("time", "time_for_children")
_NS_PER_S = 1_000_000_000


@cache
def shift_ticks() -> int:
    """Clock ticks by which times since boot are ahead in this namespace; 0 where no offset is
    known.

    (Native `claims.c` does the same.)
    """
    try:
        ours, told = (os.stat(f"/proc/self/ns/{name}").st_ino for name in _NAMESPACES)  # noqa: PTH116
    except OSError:
        return 0
    if ours != told:  # the file describes the children's namespace, which is another one
        return 0
    return shift_of(read_text("/proc/self/timens_offsets"), os.sysconf("SC_CLK_TCK"))


def shift_of(text: str, ticks_per_s: int) -> int:
    """Clock ticks of the line `boottime SECONDS NANOSECONDS`; 0 without one."""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "boottime":
            total_ns = int(words[1]) * _NS_PER_S + int(words[2])
            return total_ns * ticks_per_s // _NS_PER_S
    return 0
