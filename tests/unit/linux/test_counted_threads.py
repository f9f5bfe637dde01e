"""Which threads of a program are counted, where not all of them can be."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from autofinity.linux import address_sampling
from autofinity.linux.access_events import PAGE_FAULTS
from autofinity.linux.address_sampling import ThreadTouches
from autofinity.linux.counted_threads import CountedThreads
from autofinity.linux.event_tables import Encoding
from autofinity.linux.perf import explain
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError

EVENTS = {"clock": Encoding(1, 0), "faults": Encoding(1, 2)}
SETUID, GONE = 66, 77


class Counters:
    """Counters of one thread."""

    def __init__(self, tid: int) -> None:
        self.tid = tid

    def sample(self) -> CounterSample:
        return CounterSample(self.tid, 0, 1, {}, 1, 1)

    def close(self) -> None:
        pass


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Threads whose counters were asked for, in order; some are refused."""
    found: list[int] = []

    def opened(tid: int, wanted: Mapping[str, Encoding], _: object) -> Counters:
        found.append(tid)
        if tid in (SETUID, GONE):
            code = errno.EACCES if tid == SETUID else errno.ESRCH
            raise CapabilityError(f"cannot count {', '.join(wanted)}: {explain(code)}")
        return Counters(tid)

    monkeypatch.setattr("autofinity.linux.counted_threads.open_on_kinds", opened)
    return found


@pytest.fixture
def few_files() -> Iterator[None]:
    """Room for the counters of three threads, of two events each."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (10, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_thread_that_may_not_be_counted_is_passed_over_and_noted_once(tried: list[int]) -> None:
    threads = CountedThreads(EVENTS)
    threads.follow([1, GONE])
    with pytest.raises(CapabilityError, match=r"^some threads are not counted: .*EACCES"):
        threads.follow([1, SETUID, 2])
    assert threads.samples().keys() == {1, 2}
    tried.clear()
    threads.follow([1, SETUID, 2, 3])
    assert tried == [3]
    assert threads.samples().keys() == {1, 2, 3}


def test_the_first_thread_may_be_one_that_may_not_be_counted(tried: list[int]) -> None:
    threads = CountedThreads(EVENTS)
    with pytest.raises(CapabilityError, match="some threads"):
        threads.follow([SETUID, 1])
    assert threads.samples().keys() == {1}
    assert tried[0] == SETUID


def test_where_none_may_be_counted_nobody_asks_again(tried: list[int]) -> None:
    threads = CountedThreads(EVENTS)
    with pytest.raises(CapabilityError, match=r"^cannot count clock, faults: EACCES"):
        threads.follow([SETUID])
    tried.clear()
    threads.follow([SETUID, 1])
    assert not tried
    assert not threads.samples()


@pytest.mark.usefixtures("few_files", "tried")
def test_as_many_threads_are_counted_as_files_may_be_open() -> None:
    threads = CountedThreads(EVENTS)
    with pytest.raises(CapabilityError, match=r"^some threads are not counted: .*EMFILE"):
        threads.follow(range(1, 9))
    assert threads.samples().keys() == {1, 2, 3}
    threads.forget(2)
    threads.follow(range(4, 9))
    assert threads.samples().keys() == {1, 3, 4}


def test_a_thread_that_may_not_be_sampled_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    code = errno.EACCES

    class Ring:
        lost = 0
        fd = -1

        def close(self) -> None:
            pass

    def opened(_: object, tid: int, *__: object) -> list[Ring]:
        if tid == SETUID:
            raise CapabilityError("not permitted") from OSError(code, os.strerror(code))
        return [Ring()]

    monkeypatch.setattr(address_sampling, "_open", opened)
    touches = ThreadTouches([PAGE_FAULTS])
    touches.follow([1, SETUID])
    touches.follow([1, SETUID, 2])
    with pytest.raises(CapabilityError):
        ThreadTouches([PAGE_FAULTS]).follow([SETUID])
    code = errno.EMFILE
    with pytest.raises(CapabilityError):
        ThreadTouches([PAGE_FAULTS]).follow([1, SETUID])


def test_files_may_be_open_up_to_the_hard_limit_for_a_while(tmp_path: Path) -> None:
    script = tmp_path / "limits.py"
    script.write_text(
        "import resource\n"
        "from autofinity.linux.counted_threads import many_open_files\n"
        "show = lambda: print(*resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "with many_open_files():\n    show()\n"
        "show()\n"
    )
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        check=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (200, 400)),
    )
    assert done.stdout.split() == ["400", "400", "200", "400"]
