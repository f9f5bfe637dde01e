"""What long work says on its way, and to whom."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Progress(Protocol):
    """Told of one piece of work after the other."""

    def step(self, label: str = "") -> None:
        """One more piece is done; `label` says which is under way."""
        ...

    def found(self) -> None:
        """One more piece was there before: it says nothing about how long the others take."""
        ...


class Reporter(Protocol):
    """Who asked for the work, and may want to watch it."""

    def progress(self, title: str, total: int) -> AbstractContextManager[Progress]:
        """For the time of the block: `total` pieces of work are done."""
        ...

    def notice(self, message: str) -> None:
        """One sentence: what is left out and why, what is assumed, what it will cost."""
        ...


class _Nobody:
    """Says nothing."""

    def step(self, label: str = "") -> None:
        """Nothing to say."""

    def found(self) -> None:
        """Nothing to say."""

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Progress]:
        """Nothing to show."""
        yield self

    def notice(self, message: str) -> None:
        """Nothing to say."""


SILENT: Reporter = _Nobody()
"""For who only wants what comes of it."""
