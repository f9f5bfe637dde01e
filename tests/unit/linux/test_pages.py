"""Moves of pages by a kernel that stops at the first page that it cannot move."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from autofinity.linux import pages
from autofinity.linux.pages import Moved, mems_allowed, move, nodes_of
from autofinity.model.errors import CapabilityError
from autofinity.model.topology import OsIndex

PAGE = 4096


@dataclass
class Kernel:
    """move_pages as Linux has it from 4.17 on (`do_pages_move` of mm/migrate.c)."""

    where: dict[int, int]
    """Address → node of each page that is present."""
    pinned: frozenset[int] = frozenset()
    full: bool = False
    calls: int = 0
    run: list[int] = field(default_factory=list)

    def syscall(self, name: str, *arguments: Any) -> int:
        assert name == "move_pages"
        _, count, addresses, wished, status, _ = arguments
        self.calls += 1
        if not isinstance(wished, Sequence) and not hasattr(wished, "_length_"):
            for at in range(count):
                status[at] = self.where.get(addresses[at], -errno.ENOENT)
            return 0
        if self.full:
            raise OSError(errno.ENOMEM, "full")
        start, node = 0, -1
        for at in range(count):
            ends = self.run and wished[at] != node
            if ends and (failed := self.flush(node, status, start)):
                return failed + count - at
            if not self.run:
                start = at
            node = wished[at]
            now = self.where.get(addresses[at])
            if now is not None and now != node:
                self.run.append(addresses[at])
                continue
            status[at] = -errno.ENOENT if now is None else node
            if failed := self.flush(node, status, start):
                return failed + count - at - 1
        return self.flush(node, status, start)

    def flush(self, node: int, status: Any, start: int) -> int:
        """Move the run; the number of its pages that could not be moved."""
        run, self.run = self.run, []
        failed = [address for address in run if address in self.pinned]
        self.where |= dict.fromkeys(set(run) - set(failed), node)
        if not failed:
            for at in range(start, start + len(run)):
                status[at] = node
        return len(failed)


@pytest.fixture(autouse=True)
def three_nodes_with_room(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = frozenset(map(OsIndex, (0, 1, 2)))
    monkeypatch.setattr(pages, "mems_allowed", lambda pid: nodes)
    monkeypatch.setattr(pages, "has_room", lambda node: True)


def moved(kernel: Kernel, targets: Sequence[int], monkeypatch: pytest.MonkeyPatch) -> Moved:
    monkeypatch.setattr(pages, "syscall", kernel.syscall)
    addresses = [PAGE * at for at in range(1, 1 + len(targets))]
    return move(1, addresses, [OsIndex(node) for node in targets])


def test_pages_that_can_be_moved_are_moved_at_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel({PAGE * at: 0 for at in range(1, 9)})
    assert moved(kernel, [1] * 9, monkeypatch) == Moved(8, {"ENOENT": 1})
    assert kernel.calls == 1


def test_one_pinned_page_keeps_back_no_other_page(monkeypatch: pytest.MonkeyPatch) -> None:
    where = {PAGE * at: 0 for at in range(1, 101) if at != 50}
    kernel = Kernel(where, pinned=frozenset({PAGE * 20}))
    targets = [1] * 70 + [2] * 30
    found = moved(kernel, targets, monkeypatch)
    assert found == Moved(98, {"EBUSY": 1, "ENOENT": 1})
    assert sum(node > 0 for node in kernel.where.values()) == 98
    assert nodes_of(1, [PAGE * 20, PAGE * 21, PAGE * 50]) == [0, 1, -errno.ENOENT]


def test_a_batch_in_which_no_page_can_be_moved_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    where = {PAGE * at: 0 for at in range(1, 5)}
    kernel = Kernel(where, pinned=frozenset(where))
    assert moved(kernel, [1] * 4, monkeypatch) == Moved(0, {"EBUSY": 4})


def test_no_page_goes_to_a_node_that_is_nearly_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "has_room", lambda node: node != 1)
    kernel = Kernel({PAGE * at: 0 for at in range(1, 9)})
    assert moved(kernel, [1] * 4 + [2] * 4, monkeypatch) == Moved(4, {"ENOMEM": 4})
    assert sorted(kernel.where.values()) == [0] * 4 + [2] * 4
    assert moved(kernel, [1] * 4, monkeypatch) == Moved(0, {"ENOMEM": 4})


def test_pages_that_find_no_room_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = Kernel({PAGE: 0, 2 * PAGE: 1}, full=True)
    assert moved(kernel, [1, 1, 1], monkeypatch) == Moved(1, {"ENOMEM": 1, "ENOENT": 1})


def test_a_process_that_ends_between_two_batches_leaves_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = Kernel({PAGE * at: 0 for at in range(1, 2049)})

    def syscall(*arguments: Any) -> int:
        if kernel.calls:
            raise OSError(errno.ESRCH, "No such process")
        return kernel.syscall(*arguments)

    monkeypatch.setattr(pages, "syscall", syscall)
    addresses = [PAGE * at for at in range(1, 2049)]
    assert move(1, addresses, [OsIndex(1)] * len(addresses)) == Moved(1024, {})


def test_a_process_that_has_ended_leaves_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "mems_allowed", lambda pid: frozenset())
    assert move(1, [PAGE], [OsIndex(1)]) == Moved(0, {})


def test_a_process_that_nobody_has_waited_for_leaves_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel answers EINVAL, as for a wrong argument."""

    def refuses(name: str, *arguments: Any) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(pages, "has_room", lambda node: True)
    monkeypatch.setattr(pages, "syscall", refuses)
    nodes = [min(mems_allowed(os.getpid()) or [OsIndex(0)])]
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert move(child.pid, [PAGE], nodes) == Moved(0, {})
    with pytest.raises(CapabilityError, match="EINVAL"):
        move(os.getpid(), [PAGE], nodes)


def test_pages_may_move_to_any_node_where_the_kernel_has_no_cpusets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Such a kernel names no `Mems_allowed_list`."""
    monkeypatch.setattr(pages, "mems_allowed", mems_allowed)
    monkeypatch.setattr(pages, "read_text", lambda path: "Name:\ta\nState:\tR (running)\n")
    kernel = Kernel({PAGE: 0})
    monkeypatch.setattr(pages, "syscall", kernel.syscall)
    monkeypatch.setattr(pages, "has_room", lambda node: True)
    assert move(1, [PAGE], [OsIndex(1)]) == Moved(1, {})
