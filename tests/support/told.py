"""A reporter that remembers the reports of a workflow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autofinity.reporter import Progress


class Told:
    """A reporter, and the reports that it got."""

    def __init__(self) -> None:
        self.notices: list[str] = []
        self.work: list[tuple[str, int]] = []
        """Titles and announced numbers of pieces."""
        self.done: list[str] = []
        """Labels of all finished pieces."""

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
