"""Progress of long work: a bar on terminals, a line per tenth elsewhere, always on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from autofinity.cli.printer import complain, page, say
from autofinity.foreign_text import one_line
from autofinity.recurring import recurring
from autofinity.reporter import SILENT, Progress

STILL_S = 60.0
_GUESSED_FROM_S = 10.0
"""Before, too little is known of how long a step takes."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Reports to the person who called the command."""

    quiet: bool = False
    """No lines of progress, as with `--json`; a bar on a terminal, and notices, all the same."""

    def progress(self, title: str, total: int) -> AbstractContextManager[Progress]:
        """A bar, or lines, as the module says."""
        return progress(title, total, self.quiet)

    def notice(self, message: str) -> None:
        """A line on stderr."""
        complain(message)


@contextmanager
def progress(
    title: str,
    total: int,
    quiet: bool = False,
    clock_s: Callable[[], float] = time.monotonic,
    still_s: float = STILL_S,
) -> Iterator[Progress]:
    """A bar of `total` steps for the time of the block; where there are lines, one every `still_s`
    in which none came otherwise.
    """
    if total > 0 and sys.stderr.isatty():
        yield from _bar(title, total, clock_s)
    elif quiet or total == 0:
        with SILENT.progress(title, total) as nobody:
            yield nobody
    else:
        lines = _Lines(title, total, clock_s)
        with recurring(lambda: lines.still(still_s), still_s, still_s):
            yield lines
        lines.close()


class _Lines:
    """Logs and pipes: a line whenever another tenth is done, and when that takes long."""

    def __init__(self, title: str, total: int, clock_s: Callable[[], float]) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._made = 0
        self._said = 0
        self._clock_s = clock_s
        self._start_s = self._said_s = clock_s()

    def step(self, label: str = "") -> None:
        self._done += 1
        self._made += 1
        tenth = self._tenth()
        if tenth > self._said and self._done < self._total:
            self._said = tenth
            self._say(label)

    def found(self) -> None:
        self._done += 1
        self._said = self._tenth()

    def still(self, still_s: float) -> None:
        """Say so where nothing has been said for so long."""
        if self._done < self._total and self._clock_s() - self._said_s >= still_s:
            self._say("still running", guess=False)

    def close(self) -> None:
        self._say("")

    def _tenth(self) -> int:
        return self._done * 10 // self._total

    def _say(self, label: str, *, guess: bool = True) -> None:
        self._said_s = self._clock_s()
        elapsed_s = self._said_s - self._start_s
        left = self._left(elapsed_s) if guess else ""
        where = f"  {one_line(label)}" if label else ""
        say(f"{self._title}: {self._done}/{self._total}  {elapsed_s:.0f} s{left}{where}", err=True)

    def _left(self, elapsed_s: float) -> str:
        """A guess: steps differ, and those that were there took no time."""
        if self._done == self._total or not self._made or elapsed_s < _GUESSED_FROM_S:
            return ""
        left_s = elapsed_s / self._made * (self._total - self._done)
        length = f"{left_s:.0f} s" if left_s < 120 else f"{left_s / 60:.0f} min"
        return f", some {length} left"


def _bar(title: str, total: int, clock_s: Callable[[], float]) -> Iterator[Progress]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description:<12}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[label]}", markup=False),
    )
    with Bar(*columns, console=page(err=True, wide=False), get_time=clock_s) as bar:
        task = bar.add_task(title, total=total, label="")

        class _Step:
            def step(self, label: str = "") -> None:
                bar.update(task, advance=1, label=one_line(label))

            def found(self) -> None:
                # Restart the estimate here: else the time left is taken for next to nothing.
                bar.reset(task, completed=int(bar.tasks[task].completed) + 1, label="")

        yield _Step()
