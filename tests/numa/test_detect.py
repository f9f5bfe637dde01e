"""Who shares with whom, by the hinting faults of a kernel with several nodes."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from autofinity.linux.numa_hinting import SYSCTL, armed
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.watched_program import watch_touches

PAIRS = ((1, 2), (3, 4))  # thread 0 is the main thread
PAGES = 64  # that each pair shares


def test_pairs_are_found_and_hinting_is_off_again(programs: Path) -> None:
    def stop_when_seen(tally: TouchSharing) -> None:
        cells = tally.sharing.cells
        if len(cells) > 4 and all(cells[a][b] >= PAGES // 2 for a, b in PAIRS):
            os.kill(tally.tids[0], signal.SIGTERM)

    assert SYSCTL.read_text() == "0\n"
    with armed():
        assert SYSCTL.read_text() == "1\n"
        code, tally, _ = watch_touches([str(programs / "pairs"), "4", "300"], saw=stop_when_seen)
    assert SYSCTL.read_text() == "0\n"
    assert code == 128 + signal.SIGTERM, "the kernel took no pages away within 300 s"
    cells = tally.sharing.cells
    for a, b in PAIRS:
        others = [cells[a][other] for other in range(1, 5) if other not in (a, b)]
        assert max(others) < cells[a][b] / 2
