"""Where pages are and go, read back from the kernel by move_pages and numa_maps."""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from autofinity.linux.pages import mems_allowed, move, nodes_of
from autofinity.model.topology import OsIndex

COUNT = 200
PAGE = mmap.PAGESIZE


class Pages:
    """Memory of this process, untouched at first."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, COUNT * PAGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        # Its own entry in numa_maps: areas of equal flags side by side are one.
        self._memory.madvise(mmap.MADV_DONTDUMP)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        self.addresses = [start + number * PAGE for number in range(COUNT)]

    def touch(self, cpu: int, count: int = COUNT) -> None:
        """Write to the first `count` pages on a CPU."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {cpu})
        try:
            for number in range(count):
                self._memory[number * PAGE] = 1
        finally:
            os.sched_setaffinity(0, before)

    def close(self) -> None:
        self._memory.close()

    def by_numa_maps(self) -> dict[int, int]:
        """Pages on each node, as /proc/self/numa_maps counts them."""
        for line in Path("/proc/self/numa_maps").read_text().splitlines():
            if int(line.split()[0], 16) == self.addresses[0]:
                return {int(node): int(n) for node, n in re.findall(r" N(\d+)=(\d+)", line)}
        return {}


@pytest.fixture
def pages() -> Iterator[Pages]:
    memory = Pages()
    yield memory
    memory.close()


def test_pages_lie_where_they_are_touched_first(pages: Pages, shape: Any) -> None:
    node = shape.nodes - 1
    pages.touch(node * shape.cores)
    assert nodes_of(os.getpid(), pages.addresses, batch=64) == [node] * COUNT
    assert pages.by_numa_maps() == {node: COUNT}


def test_moved_pages_lie_where_they_were_sent(pages: Pages, shape: Any) -> None:
    pages.touch(0)
    wished = [OsIndex(number % shape.nodes) for number in range(COUNT)]
    moved = move(os.getpid(), pages.addresses, wished, batch=64)
    assert (moved.done, moved.failed) == (COUNT, {})
    assert nodes_of(os.getpid(), pages.addresses) == wished
    assert pages.by_numa_maps() == Counter(map(int, wished))


def test_pages_that_nobody_has_touched_are_counted_and_harm_none_of_the_others(
    pages: Pages,
) -> None:
    pages.touch(0, COUNT // 2)
    moved = move(os.getpid(), pages.addresses, [OsIndex(1)] * COUNT)
    # Linux 6.1 says EFAULT where newer ones say ENOENT.
    assert (moved.done, sum(moved.failed.values())) == (COUNT // 2, COUNT // 2)
    assert moved.failed.keys() <= {"ENOENT", "EFAULT"}
    assert pages.by_numa_maps() == {1: COUNT // 2}


def test_pages_go_to_no_node_that_the_cpuset_forbids(pages: Pages, cgroup: Any) -> None:
    pages.touch(0)
    cgroup.set(cpus="0-3", nodes="0-1")
    cgroup.enter()
    try:
        assert mems_allowed(os.getpid()) == {0, 1}
        wished = [OsIndex(1 + number % 2) for number in range(COUNT)]
        moved = move(os.getpid(), pages.addresses, wished)
    finally:
        cgroup.leave()
    assert (moved.done, moved.failed) == (COUNT // 2, {"EACCES": COUNT // 2})
    assert pages.by_numa_maps() == {0: COUNT // 2, 1: COUNT // 2}


def test_a_page_that_a_device_holds_keeps_back_no_other_page(pages: Pages) -> None:
    pages.touch(0)
    with _pinned(pages.addresses[COUNT // 2]):
        moved = move(os.getpid(), pages.addresses, [OsIndex(1)] * COUNT)
        assert (moved.done, moved.failed) == (COUNT - 1, {"EBUSY": 1})
        assert pages.by_numa_maps() == {0: 1, 1: COUNT - 1}


def test_pages_of_another_process_are_moved_and_those_of_one_that_is_gone_are_not() -> None:
    with _touching_child() as (process, addresses):
        home = nodes_of(process.pid, addresses)[0]
        away = OsIndex(1 - home if home < 2 else 0)
        assert move(process.pid, addresses, [away] * len(addresses)).done == len(addresses)
        assert set(nodes_of(process.pid, addresses)) == {away}
    assert move(process.pid, addresses, [OsIndex(0)] * len(addresses)).done == 0


@contextmanager
def _pinned(address: int) -> Iterator[None]:
    """A page that is held in place, as for a device: a registered buffer of io_uring."""
    syscall = ctypes.CDLL(None, use_errno=True).syscall
    io_uring_setup, io_uring_register, buffers = 425, 427, 0
    ring = syscall(io_uring_setup, 1, ctypes.create_string_buffer(120))
    if ring < 0:
        pytest.skip(f"no io_uring: {os.strerror(ctypes.get_errno())}")
    page = (ctypes.c_size_t * 2)(address, PAGE)
    try:
        assert syscall(io_uring_register, ring, buffers, page, 1) == 0, ctypes.get_errno()
        yield
    finally:
        os.close(ring)


@contextmanager
def _touching_child() -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A process with memory of its own, and the addresses of its pages."""
    code = (
        "import ctypes, mmap\n"
        f"memory = mmap.mmap(-1, {COUNT * PAGE}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        f"for at in range(0, {COUNT * PAGE}, {PAGE}): memory[at] = 1\n"
        "print(ctypes.addressof(ctypes.c_char.from_buffer(memory)), flush=True)\n"
        "input()\n"
    )
    command = [sys.executable, "-S", "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        start = int(process.stdout.readline())
        yield process, [start + number * PAGE for number in range(COUNT)]
        process.kill()
