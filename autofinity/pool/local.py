"""Threads of this process: the native core leaves the interpreter's lock."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from autofinity.pool.carry_out import carry_out
from autofinity.ports import Done, Task


class LocalPool:
    """A pool of threads. As a context manager it ends when its running tasks have."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._executor = ThreadPoolExecutor(max_workers=threads)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._executor.shutdown(cancel_futures=True)

    def slots(self) -> int:
        """Number of threads."""
        return self._threads

    def submit[Context, Result](
        self, context: Context, task: Task[Context, Result]
    ) -> Future[Done[Result]]:
        """Begin a task when a thread is free."""
        return self._executor.submit(carry_out, context, task)
