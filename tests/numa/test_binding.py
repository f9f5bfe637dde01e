"""The kernel's view of threads that were bound by a hint, on several nodes."""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_masks import mask_of_task

from autofinity.affinity.hints import get_affinity
from autofinity.linux.bind import bind_thread
from autofinity.model.affinity import HINTS, Affinity, Hint
from autofinity.model.topology import OsIndex, Topology
from autofinity.runtime.masks import thread_masks


class Resting:
    """A thread that rests, and says where it runs when it is woken."""

    def __init__(self) -> None:
        self._wake, self._told = threading.Semaphore(0), threading.Semaphore(0)
        self._cpu = -1
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()
        self.runs_on()

    @property
    def tid(self) -> int:
        return self._thread.native_id or 0

    def runs_on(self) -> int:
        """CPU that the kernel lets it run on now."""
        self._wake.release()
        self._told.acquire()
        return self._cpu

    def end(self) -> None:
        self._thread = threading.Thread()
        self._cpu = -2
        self._wake.release()

    def _live(self) -> None:
        while self._wake.acquire() and self._cpu != -2:
            stat = Path("/proc/thread-self/stat").read_text()
            self._cpu = int(stat.rsplit(")", 1)[1].split()[36])
            self._told.release()


@contextmanager
def resting(count: int) -> Iterator[list[Resting]]:
    threads = [Resting() for _ in range(count)]
    try:
        yield threads
    finally:
        for thread in threads:
            thread.end()


@pytest.mark.parametrize("hint", HINTS, ids=str)
def test_threads_are_and_run_where_the_hint_says(topology: Topology, hint: Hint) -> None:
    count = topology.n_llcs
    available = topology.allowed
    cores = get_affinity(topology, count, hint, available)
    seen: dict[int, Counter[int]] = {}
    with resting(count) as threads:
        for bind in ("llc", "core"):
            masks = thread_masks(topology, cores, available, bind)  # type: ignore[arg-type]
            for thread, mask in zip(threads, masks, strict=True):
                assert bind_thread(thread.tid, mask) is None
                assert mask_of_task(os.getpid(), thread.tid) == mask
                assert thread.runs_on() in mask
        for thread in threads:
            pu = topology.by_os_index[OsIndex(thread.runs_on())]
            seen.setdefault(pu.package, Counter())[pu.llc] += 1
    assert Affinity.of([counts.values() for counts in seen.values()]) == cores.affinity
    assert (len(seen) == topology.n_packages) == hint.spread_sockets or not hint.socket_first


def test_the_hints_that_differ_most_are_one_node_and_all_nodes(topology: Topology) -> None:
    count = topology.n_nodes

    def nodes(hint: str) -> set[int]:
        cores = get_affinity(topology, count, Hint.parse(hint))
        return {topology.by_os_index[cpu].node for cpu in cores.cpus}

    assert len(nodes("SLP")) == topology.n_nodes
    per_node = len(topology.pus) // topology.n_nodes
    assert len(nodes("slP")) == -(-count // per_node)


def test_a_mask_of_cpus_that_are_offline_is_refused_with_the_reason(online: Any) -> None:
    online.switch_off(3)
    with resting(1) as (thread,):
        before = mask_of_task(os.getpid(), thread.tid)
        refused = bind_thread(thread.tid, frozenset({OsIndex(3)}))
        assert refused is not None
        assert refused.startswith("EINVAL")
        assert mask_of_task(os.getpid(), thread.tid) == before
