"""Who remembers what a workflow says on its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autofinity.reporter import Progress


class Told:
    """A reporter, and what it was told."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.work: list[tuple[str, int]] = []
        """Titles and how many pieces there were to be."""
        self.done: list[str] = []
        """Labels of all pieces that were done."""

    @contextmanager
    def progress(self, title: str, total: int) -> Iterator[Progress]:
        self.work.append((title, total))
        yield self

    def notice(self, message: str) -> None:
        self.notices.append(message)

    def step(self, label: str = "") -> None:
        self.done.append(label)

    def found(self) -> None:
        self.done.append("found")
