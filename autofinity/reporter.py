"""Interface for the progress and the notices of long work."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Receives the progress, piece by piece."""

    def step(self, label: str = "") -> None:
        """Record one more finished piece; `label` names the piece under way."""
        ...

    def found(self) -> None:
        """Record one more piece that existed before; it gives no estimate for the time of the
        others.
        """
        ...


class Reporter(Protocol):
    """The caller of long work, who may want to watch it.

    >>> from contextlib import contextmanager
    >>> class Lines(list):
    ...     def notice(self, message):
    ...         self.append(message)
    ...     @contextmanager
    ...     def progress(self, title, total):
    ...         self.append(f"{title}: {total}")
    ...         yield self
    ...     def step(self, label=""):
    ...         self.append(label)
    ...     found = step
    >>> lines = Lines()
    >>> traces = af.capture_traces("prodcons", "seen", threads=2, size="tiny", reporter=lines)
    >>> len(lines) > 1
    True
    """

    def progress(self, title: str, total: int) -> AbstractContextManager[Progress]:
        """Context in which `total` pieces of work are done. It gives an object with two methods:
        `step(label)`, called for each finished piece, and `found()`, called for each that existed.
        """
        ...

    def notice(self, message: str) -> None:
        """Report one sentence: a part that is left out and why, an assumption, or the cost."""
        ...


class _Nobody:
    """Reports nothing."""

    def __repr__(self) -> str:
        return "SILENT"  # what `help` shows as the default of functions

    def step(self, label: str = "") -> None:
        """Report nothing."""

    def found(self) -> None:
        """Report nothing."""

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Progress]:
        """Show nothing."""
        yield self

    def notice(self, message: str) -> None:
        """Report nothing."""


SILENT: Reporter = _Nobody()
"""Reporter for callers that only need the result."""
