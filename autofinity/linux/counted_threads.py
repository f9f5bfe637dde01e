"""Hardware counters of each thread of a program, opened as threads appear."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

from autofinity.linux.event_tables import Encoding, core_pmus
from autofinity.linux.perf import SeveralPmus, ThreadCounters, explain, open_on_kinds
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError


@contextmanager
def many_open_files() -> Iterator[None]:
    """As many files may be open as the hard limit allows: counters are files, some for each thread.

    Programs that are started meanwhile inherit the limit.
    """
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


class CountedThreads:
    """Open counters of threads. Close after use."""

    def __init__(self, counters: Mapping[str, Encoding]) -> None:
        """With empty `counters` nothing is counted."""
        self._counters = dict(counters)
        self._pmus = core_pmus() if counters else ()
        self._open: dict[int, ThreadCounters | SeveralPmus] = {}
        self._refused: set[int] = set()
        self._was_said = False

    def follow(self, tids: Iterable[int]) -> None:
        """Count these threads too, from now on; a thread that has ended is ignored.

        Counters that the machine refuses one by one are left out. Threads are passed over that may
        not be counted where others may (of a setuid program), or that are too many.

        Raises `CapabilityError` once where threads are passed over; and where the machine refuses
        all: then nothing is counted any more.
        """
        if not self._counters:
            return
        refusal: CapabilityError | None = None
        for tid in tids:
            if tid in self._open or tid in self._refused:
                continue
            if len(self._open) >= self._most:
                refusal = refusal or self._too_many()
                break
            try:
                self._open[tid] = self._opened(tid)
            except CapabilityError as error:
                if "ESRCH" not in str(error):
                    self._refused.add(tid)
                    refusal = refusal or error
        if refusal is not None and not self._open:
            self._counters = {}
            raise refusal
        if refusal is not None and not self._was_said:
            self._was_said = True
            raise CapabilityError(f"some threads are not counted: {refusal}") from refusal

    @property
    def _most(self) -> int:
        """Number of threads whose counters leave a quarter of the files that may be open."""
        each = sum(len(encoding.events) for encoding in self._counters.values())
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return 3 * limit // (4 * each * max(1, len(self._pmus)))

    def _too_many(self) -> CapabilityError:
        names = ", ".join(self._counters)
        return CapabilityError(f"cannot count {names}: {explain(errno.EMFILE)}")

    def _opened(self, tid: int) -> ThreadCounters | SeveralPmus:
        try:
            return open_on_kinds(tid, self._counters, self._pmus)
        except CapabilityError as error:
            left = {} if self._open or "ESRCH" in str(error) else self._granted(tid)
            if not left or left == self._counters:
                raise
            self._counters = left
            return open_on_kinds(tid, left, self._pmus)

    def _granted(self, tid: int) -> dict[str, Encoding]:
        """The counters that can be opened, each tried by itself."""
        left = {}
        for name, encoding in self._counters.items():
            try:
                open_on_kinds(tid, {name: encoding}, self._pmus).close()
            except CapabilityError:
                continue
            left[name] = encoding
        return left

    def samples(self) -> dict[int, CounterSample]:
        """Counts of each thread since the last call."""
        return {tid: counters.sample() for tid, counters in self._open.items()}

    def forget(self, tid: int) -> None:
        """Close the counters of a thread that has ended."""
        self._refused.discard(tid)
        counters = self._open.pop(tid, None)
        if counters is not None:
            counters.close()

    def close(self) -> None:
        """Close every counter."""
        for tid in list(self._open):
            self.forget(tid)
