"""Where a program's memory is: by files as the kernel writes them, and by the kernel."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autofinity.linux import memory, proc
from autofinity.linux.memory import memory_of, pages_on
from autofinity.linux.pages import nodes_of
from autofinity.linux.proc import resident_bytes_of
from autofinity.model.errors import CapabilityError
from autofinity.model.memory import MemoryByNode
from autofinity.model.sharing import page_number
from autofinity.model.topology import OsIndex

NUMA_MAPS = """\
00400000 default file=/usr/bin/app mapped=3 mapmax=2 N0=3 kernelpagesize_kB=4
01000000 default heap anon=5 dirty=5 N0=2 N4=3 kernelpagesize_kB=4
7f0000000000 default file=/anon_hugepage\\040(deleted) huge anon=2 N4=2 kernelpagesize_kB=2048
7f0800000000 bind:4 anon=2 dirty=2 active=0 N4=2 kernelpagesize_kB=4
7f0900000000 interleave:0,4 anon=2 dirty=2 N0=1 N4=1 kernelpagesize_kB=4
7f1000000000 local anon=1 dirty=1 N9=1 kernelpagesize_kB=4
7f2000000000 default
7f2800000000 default file=/mnt/huge/shared huge dirty=1 N0=1 kernelpagesize_kB=2048
7f3000000000 default file=/dev/zero\\040(deleted) anon=1 dirty=1 N0=1 kernelpagesize_kB=4
no line of the kernel's
7fff00000000 default stack anon=1 dirty=1 N0=1 kernelpagesize_kB=oops
7fff10000000 default stack anon=1 dirty=1 N0=1 kernelpagesize_kB=4
"""
NODES = [OsIndex(0), OsIndex(4)]


@pytest.fixture
def procfs(tmp_path: Path) -> str:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/numa_maps").write_text(NUMA_MAPS)
    (tmp_path / "7/maps").write_text(
        "00400000-00403000 r-xp 00000000 08:01 1 /usr/bin/app\n"
        "01000000-02000000 rw-p 00000000 00:00 0 [heap]\n"
        "nonsense\n"
        "7f0000000000-7f0000400000 rw-p 00000000 00:0f 0 /anon_hugepage (deleted)\n"
        "7f0800000000-7f0800002000 rw-p 00000000 00:00 0 \n"
        "7f0900000000-7f0900002000 rw-p 00000000 00:00 0 \n"
    )
    return str(tmp_path)


def test_what_no_file_is_behind_is_counted_by_node_in_pages_of_their_size(procfs: str) -> None:
    found = memory_of([7], NODES, procfs)
    assert found is not None
    assert found.bytes_on == (4 * 4096, 6 * 4096 + 2 * (2 << 20))
    assert found.fullest == 1
    twice = memory_of([7, 7], NODES, procfs)
    assert twice is not None
    assert twice.bytes_on == tuple(2 * n for n in found.bytes_on)


def test_what_a_policy_of_the_program_has_put_on_a_node_stays_there(procfs: str) -> None:
    found = memory_of([7], NODES, procfs)
    assert found is not None
    assert found.fixed_on == (4096, 3 * 4096)
    assert found.movable_on == (3 * 4096, 3 * 4096 + 2 * (2 << 20))
    assert MemoryByNode((1, 2)).movable_on == (1, 2)


def test_huge_pages_are_held_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "VmHWM:\t 90 kB\nVmRSS:\t 30 kB\nRssAnon:\t 20 kB\nHugetlbPages:\t 4096 kB\n"
    monkeypatch.setattr(proc, "read_text", {"/proc/7/status": text, "/proc/8/status": ""}.get)
    assert resident_bytes_of(7) == (30 + 4096) << 10
    assert resident_bytes_of(8) == 0


def test_a_process_that_is_gone_or_hidden_has_no_memory_to_be_told_of(
    procfs: str, tmp_path: Path
) -> None:
    (tmp_path / "8").mkdir()
    (tmp_path / "8/numa_maps").mkdir()  # cannot be read
    assert memory_of([8, 9], NODES, procfs) is None
    assert list(pages_on([8, 9], OsIndex(0), procfs=procfs)) == []
    assert memory_of([7, 9], NODES, procfs) == memory_of([7], NODES, procfs)


def test_pages_on_a_node_are_those_that_the_kernel_names_and_what_is_only_reserved_is_not_read(
    procfs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def answer(pid: int, addresses: range) -> list[int]:
        assert pid == 7
        asked.extend(addresses)
        return [4 if address in (0x1000000, 0x1002000, 0x1003000) else -2 for address in addresses]

    monkeypatch.setattr(memory, "nodes_of", answer)
    found = [page for pages in pages_on([7], OsIndex(4), procfs=procfs) for page in pages]
    assert found == [page_number(7, number) for number in (0x1000, 0x1002, 0x1003)]
    heap = [address for address in asked if address < 0x7F0000000000]
    assert heap == list(range(0x1000000, 0x1000000 + 1024 * 4096, 4096))
    assert [address for address in asked if address >= 0x7F0000000000] == [
        0x7F0000000000,
        0x7F0000200000,
    ]


def reserved(tmp_path: Path, areas: int, size: int, touched: int) -> str:
    """A process with areas of so many pages, of which so many are touched, on node 0."""
    (tmp_path / "7").mkdir()
    numa, maps = [], []
    for number in range(areas):
        start = (number + 1) << 40
        numa.append(f"{start:x} default anon={touched} dirty={touched} N0={touched}")
        maps.append(f"{start:x}-{start + size * 4096:x} rw-p 00000000 00:00 0")
    (tmp_path / "7/numa_maps").write_text("\n".join(numa) + "\n")
    (tmp_path / "7/maps").write_text("\n".join(maps) + "\n")
    return str(tmp_path)


@pytest.mark.parametrize("one_in", [1, 2, 3, 8, 100])
def test_of_many_small_areas_one_in_so_many_parts_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_in: int
) -> None:
    """Areas of two and a half parts."""
    procfs = reserved(tmp_path, areas=40, size=2560, touched=2560)
    monkeypatch.setattr(memory, "nodes_of", lambda pid, part: [0] * len(part))
    parts = list(pages_on([7], OsIndex(0), procfs=procfs))
    read = list(pages_on([7], OsIndex(0), one_in, procfs))
    assert read == parts[::one_in]


def test_a_large_area_with_few_pages_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the shadow of a sanitizer is: 16 TiB, and a page in each GiB."""
    procfs = reserved(tmp_path, areas=1, size=1 << 32, touched=1 << 14)
    asked = 0

    def answer(pid: int, addresses: range) -> list[int]:
        nonlocal asked
        asked += len(addresses)
        return [0 if address % (1 << 30) == 0 else -2 for address in addresses]

    monkeypatch.setattr(memory, "nodes_of", answer)
    assert sum(map(len, pages_on([7], OsIndex(0), procfs=procfs))) == 1
    assert asked < 1 << 15


def test_where_the_kernel_does_not_let_pages_be_seen_there_are_none(
    procfs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(pid: int, addresses: range) -> list[int]:
        raise CapabilityError("EPERM")

    monkeypatch.setattr(memory, "nodes_of", refused)
    assert list(pages_on([7], OsIndex(0), procfs=procfs)) == []


SIZE = 8 << 20


@contextmanager
def program_with_memory() -> Iterator[int]:
    code = (
        f"import mmap\nmemory = mmap.mmap(-1, {SIZE}, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
        f"for at in range(0, {SIZE}, 4096): memory[at] = 1\n"
        "print(flush=True); input()\n"
    )
    pipe = subprocess.PIPE
    command = [sys.executable, "-S", "-c", code]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def test_the_kernel_tells_of_a_running_program_what_it_has_written_to() -> None:
    if not Path("/proc/self/numa_maps").exists():
        pytest.skip("the kernel has no numa_maps (CONFIG_NUMA)")
    try:
        nodes_of(os.getpid(), [])
    except CapabilityError as error:
        pytest.skip(f"pages may not be asked for here: {error}")
    with program_with_memory() as pid:
        numbers = [OsIndex(node) for node in range(64)]
        found = memory_of([pid], numbers)
        assert found is not None
        assert SIZE <= found.total_bytes < 4 * SIZE
        pages = [page for batch in pages_on([pid], OsIndex(found.fullest)) for page in batch]
        assert len(pages) == len(set(pages))
        assert len(pages) * 4096 == pytest.approx(found.bytes_on[found.fullest], rel=0.1)
    assert memory_of([pid], numbers) is None
