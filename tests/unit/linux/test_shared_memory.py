"""Memory that processes share is one, wherever each of them sees it (kMAF'14, section 3.1.1)."""

from __future__ import annotations

import mmap
import os
import signal
import sys
from pathlib import Path

import pytest
from permitted import skip_unless_touches_are_seen

from autofinity.linux.shared_memory import Mapped, SharedMemory
from autofinity.linux.touch_sharing import TouchSharing
from autofinity.linux.touches import Touch
from autofinity.linux.watched_program import watch_touches
from autofinity.model.sharing import by_process
from autofinity.model.topology import OsIndex

ANONYMOUS = "7f0000000000-7f0000004000 rw-s 00000000 00:01 77      /dev/zero (deleted)"
PAGES = 32
TWO_PROCESSES = f"""
import mmap, os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGTERM}})
until, held = os.pipe()
shared = mmap.mmap(-1, {PAGES} * 4096)
own = mmap.mmap(-1, {PAGES} * 4096, mmap.MAP_PRIVATE)
for child in range(2):
    if os.fork() == 0:
        for page in range({PAGES}):
            shared[page * 4096 + child] = own[page * 4096 + child] = 1
        os.close(held)
        os.read(until, 1)  # its maps are read while it is there
        os._exit(0)
signal.sigtimedwait({{signal.SIGTERM}}, 60)
"""


def maps(procfs: Path, pid: int, *lines: str) -> None:
    (procfs / str(pid)).mkdir(exist_ok=True)
    (procfs / str(pid) / "maps").write_text("".join(f"{line}\n" for line in lines))


def test_section_3_1_1_one_inode_and_offset_is_one_place_and_private_memory_is_each_ones_own(
    tmp_path: Path,
) -> None:
    maps(tmp_path, 8, ANONYMOUS, "7f0000004000-7f0000008000 rw-p 00000000 00:00 0")
    maps(
        tmp_path,
        9,
        "500000000000-500000002000 rw-s 00002000 00:01 77      /dev/zero (deleted)",
        "7f0000004000-7f0000008000 rw-p 00000000 00:00 0",
        "7f0000010000-7f0000014000 rw-s 00000000 00:01 78      /dev/shm/other",
    )
    memory = SharedMemory(procfs=str(tmp_path))
    assert memory.place(8, 0x7F0000002040) == memory.place(9, 0x500000000040)
    assert memory.place(8, 0x7F0000000040) != memory.place(9, 0x7F0000010040)
    assert memory.place(8, 0x7F0000004000) != memory.place(9, 0x7F0000004000)
    assert memory.place(10, 0x7F0000002040) != memory.place(8, 0x7F0000002040)  # has gone
    # Blocks of a page at least are numbers of 64 bits, and no process has those of shared memory.
    last = memory.place(9, 0x7F0000013FFF)
    assert (1 << 22) << 48 < last < 1 << 71
    assert memory.place((1 << 22) - 1, (1 << 48) - 1) < (1 << 22) << 48


def test_what_was_mapped_later_is_found_at_the_next_look(tmp_path: Path) -> None:
    memory = SharedMemory(procfs=str(tmp_path))
    maps(tmp_path, 8)
    maps(tmp_path, 9, ANONYMOUS)
    first = memory.place(9, 0x7F0000000000)
    assert memory.place(8, 0x7F0000000000) != first
    maps(tmp_path, 8, ANONYMOUS)
    assert memory.place(8, 0x7F0000000000) != first
    memory.look_again()
    assert memory.place(8, 0x7F0000000000) == first


def test_nothing_is_read_of_a_process_alone_where_that_is_asked_for(tmp_path: Path) -> None:
    memory = SharedMemory(processes=2, procfs=str(tmp_path))
    maps(tmp_path, 8, ANONYMOUS)
    maps(tmp_path, 9, ANONYMOUS)
    alone = memory.place(8, 0x7F0000000000)
    both = memory.place(9, 0x7F0000000000)
    assert alone != both == memory.place(8, 0x7F0000000000)


@pytest.mark.parametrize("line", ["", "x", "1-2 rw-s 0 00:01", "g-h rw-s 0 00:01 7"])
def test_a_line_that_is_none_of_maps_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Mapped.parse(line)


def test_section_3_1_1_the_kernel_says_so_of_this_process() -> None:
    with mmap.mmap(-1, 8192) as shared, mmap.mmap(-1, 8192) as other:
        lines = Path("/proc/self/maps").read_text().splitlines()
        areas = [each for each in map(Mapped.parse, lines) if each.shared]
        assert shared is not other
        assert sum(area.end - area.start for area in areas) >= 2 * 8192
        memory = SharedMemory()
        for area in areas:
            assert memory.place(os.getpid(), area.start) >> 48 >= 1 << 22


def test_section_3_1_1_two_processes_that_touch_the_same_are_seen_to_share() -> None:
    skip_unless_touches_are_seen()

    def stop_when_seen(tally: TouchSharing) -> None:
        if len(tally.tids) > 2 and tally.sharing.cells[1][2] >= PAGES:
            os.kill(tally.tids[0], signal.SIGTERM)

    code, tally, lost = watch_touches([sys.executable, "-c", TWO_PROCESSES], saw=stop_when_seen)
    assert (code, lost) == (0, 0)
    assert len(by_process(tally.pages.pages)) == 3
    # Once a page, and nothing of the pages that each has to itself.
    assert PAGES <= tally.sharing.cells[1][2] < 2 * PAGES


def test_processes_of_which_nothing_can_be_read_share_nothing() -> None:
    tally = TouchSharing()
    gone = (1 << 22) - 1, (1 << 22) - 2
    tally.add([Touch(at, pid, pid, 4096, OsIndex(0)) for at, pid in enumerate(gone)])
    assert tally.sharing.cells == ((0, 0), (0, 0))
