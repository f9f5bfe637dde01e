"""Times of one clock for all: in a time namespace the time since boot is another one.

What /proc says of when a process began is shifted by the namespace of whoever asks. What is kept is
therefore what the machine's own clock says, so that who asks from elsewhere finds the same process.
"""

from __future__ import annotations

import os
from functools import cache

from autofinity.linux.kernel_file import read_text

_NAMESPACES = ("time", "time_for_children")
_NS_PER_S = 1_000_000_000


@cache
def shift_ticks() -> int:
    """Clock ticks that times since boot are ahead here; 0 where nothing says so.

    (Native `claims.c` does the same.)
    """
    try:
        ours, told = (os.stat(f"/proc/self/ns/{name}").st_ino for name in _NAMESPACES)  # noqa: PTH116
    except OSError:
        return 0
    if ours != told:  # the file is about children's, who are to have another one
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
