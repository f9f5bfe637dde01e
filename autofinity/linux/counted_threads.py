"""Hardware counters of each thread of a program, opened as threads appear."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from autofinity.linux.event_tables import Encoding, core_pmus
from autofinity.linux.perf import SeveralPmus, ThreadCounters, open_on_kinds
from autofinity.model.counters import CounterSample
from autofinity.model.errors import CapabilityError


class CountedThreads:
    """Open counters of threads. Close after use."""

    def __init__(self, counters: Mapping[str, Encoding]) -> None:
        """With empty `counters` nothing is counted."""
        self._counters = dict(counters)
        self._pmus = core_pmus() if counters else ()
        self._open: dict[int, ThreadCounters | SeveralPmus] = {}

    def follow(self, tids: Iterable[int]) -> None:
        """Count these threads too, from now on; a thread that has ended is ignored.

        Counters that the machine refuses one by one are left out.

        Raises `CapabilityError` where the machine refuses all; then nothing is counted any more.
        """
        if not self._counters:
            return
        for tid in tids:
            if tid in self._open:
                continue
            try:
                self._open[tid] = self._opened(tid)
            except CapabilityError as error:
                if "ESRCH" not in str(error):
                    self._counters = {}
                    self.close()
                    raise

    def _opened(self, tid: int) -> ThreadCounters | SeveralPmus:
        try:
            return open_on_kinds(tid, self._counters, self._pmus)
        except CapabilityError as error:
            left = {} if "ESRCH" in str(error) else self._granted(tid)
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
        counters = self._open.pop(tid, None)
        if counters is not None:
            counters.close()

    def close(self) -> None:
        """Close every counter."""
        for tid in list(self._open):
            self.forget(tid)
