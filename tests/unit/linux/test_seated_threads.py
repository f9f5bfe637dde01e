"""Threads that the launcher's half seated are ours to place; pins and helpers are not."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from autofinity.linux.bind import mask_of
from autofinity.linux.seated_threads import SEATED, SeatedThreads
from autofinity.linux.thread_masks import MaskChange, ThreadMasks
from autofinity.model.topology import OsIndex

SEATS = (frozenset({OsIndex(0)}), frozenset({OsIndex(1)}))


@contextmanager
def named(*threads: tuple[int, int]) -> Iterator[int]:
    """The end of a pipe that names them."""
    reader, writer = os.pipe()
    for tid, number in threads:
        os.write(writer, struct.pack("=ii", tid, number))
    try:
        yield reader
    finally:
        os.close(writer)


def test_each_thread_is_named_once_with_its_seat() -> None:
    told: list[str] = []
    with named((11, 1), (12, 0)) as reader:
        seated = SeatedThreads(reader, SEATS, told.append)
        assert seated.named() == [(11, SEATS[1]), (12, SEATS[0])]
        assert seated.named() == []
        seated.close()
        assert seated.named() == []
    assert told == [SEATED]


def test_nothing_is_told_where_no_thread_was_seated() -> None:
    told: list[str] = []
    with named() as reader:
        seated = SeatedThreads(reader, SEATS, told.append)
        assert seated.named() == []
        seated.close()
    assert told == []


@pytest.fixture
def pinned() -> Iterator[frozenset[OsIndex]]:
    """This thread on one CPU; the mask that it had."""
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("two CPUs are needed; one is allowed here")
    os.sched_setaffinity(0, {min(before)})
    try:
        yield frozenset(map(OsIndex, before))
    finally:
        os.sched_setaffinity(0, before)


def test_the_mask_before_the_seat_is_on_record(pinned: frozenset[OsIndex]) -> None:
    kept: list[MaskChange] = []
    masks = ThreadMasks(pinned, frozenset(), kept.extend)
    seat = frozenset({min(pinned)})
    masks.adopt(os.getpid(), 7, seat)
    assert kept == [MaskChange(os.getpid(), 7, pinned, seat)]


def test_a_thread_that_has_pinned_itself_since_is_not_ours(pinned: frozenset[OsIndex]) -> None:
    kept: list[MaskChange] = []
    masks = ThreadMasks(pinned, frozenset(), kept.extend)
    masks.adopt(os.getpid(), 7, pinned)
    masks.free(os.getpid(), pinned)
    assert kept == []
    assert mask_of(os.getpid()) == {min(pinned)}


def test_a_helper_gets_the_programs_mask_back(pinned: frozenset[OsIndex]) -> None:
    masks = ThreadMasks(pinned, frozenset(), lambda changes: None)
    masks.free(os.getpid(), frozenset({min(pinned)}))
    assert mask_of(os.getpid()) == pinned
