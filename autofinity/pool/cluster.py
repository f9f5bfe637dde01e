"""Tasks on the workers of a Dask scheduler. Only this room imports Dask.

    submit ─► serve, on a worker ─► Done ─► the task's future
       ▲            └─► Lacking: the worker is sent the trace, once
       └────────────────────┘

Dask gives a task whose worker died to another one, up to `distributed.scheduler.allowed-failures`
times. Nothing of ours stays on the scheduler: when the client leaves, even by a crash, the
scheduler forgets its tasks.
"""

from __future__ import annotations

import pickle
import socket
import threading
import time
import uuid
from collections import Counter
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from distributed import Client, KilledWorker
from distributed import Future as DaskFuture

from autofinity.model.errors import ClusterError, SimulationError, TraceError
from autofinity.pool.carry_out import carry_out
from autofinity.pool.identity import identity
from autofinity.pool.on_worker import Failed, Lacking, keep_trace, serve
from autofinity.pool.packed_trace import pack
from autofinity.ports import Done, Task
from autofinity.trace.meta import read_meta

_LOOK_S = 0.5
"""Period of the looks at the cluster."""
_ANSWER_S = 60.0
"""Time in which the scheduler must answer a look."""
_REACH_S = 3.0
"""Time in which the scheduler's host must accept a connection."""
_CONNECT_S = 10
"""Time in which the scheduler must answer a new client."""
_SENDINGS = 3
"""Times that a worker is sent a trace: it may have been started again under the same address."""
_LEADERS = 32
"""Number of tasks that hand out tasks of their own, and do so at the same time."""


@dataclass(frozen=True, slots=True, eq=False)
class _Request:
    """A submitted task."""

    label: str
    context: bytes
    task: bytes
    traces: tuple[tuple[str, str], ...]
    """Folder here, and digest of the events."""
    future: Future[Done[Any]]
    leader: list[float] | None
    """Where its CPU seconds are added up, if another task handed it out."""


@dataclass
class _Leading(threading.local):
    """The CPU seconds of the tasks that the present thread's task has handed out."""

    cpu_s: list[float] | None = field(default=None)


class ClusterPool:
    """A pool over the workers of a scheduler. As a context manager it closes the client.

    Its futures raise `SimulationError` for a task at which several workers died.
    """

    def __init__(self, client: Client, where: str, address: str, patience_s: float) -> None:
        """`where`, `address`: the scheduler, for people and for workers. `patience_s`: time without
        any worker after which all tasks fail.
        """
        self._client = client
        self._patience_s = patience_s
        self._where = where
        self._address = address
        self._lock = threading.Lock()
        self._begun: dict[_Request, DaskFuture[Any]] = {}
        self._sent: Counter[tuple[str, str]] = Counter()
        """Worker and digest → times that the trace was sent there."""
        self._failed: ClusterError | None = None
        self._leading = _Leading()
        self._leaders = ThreadPoolExecutor(max_workers=_LEADERS)
        self._threads = self._workers = 0
        self._closing = threading.Event()
        self._look()
        self._watcher = threading.Thread(target=self._watch, daemon=True)
        self._watcher.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Forget all tasks, here and on the scheduler."""
        self._closing.set()
        self._fail(ClusterError(f"{self._where}: closed"))
        self._leaders.shutdown(cancel_futures=True)
        self._watcher.join()
        with suppress(OSError):  # a scheduler that is gone
            self._client.close(timeout=5)

    def slots(self) -> int:
        """Number of tasks to submit at a time: one for each thread of the workers, and one for each
        worker to begin next.
        """
        return max(1, self._threads + self._workers)

    def submit[Context, Result](
        self, context: Context, task: Task[Context, Result]
    ) -> Future[Done[Result]]:
        """Begin a task on a worker; one that hands out tasks begins in a thread of this process."""
        if task.hands_out:
            return self._leaders.submit(self._led, context, task)
        future: Future[Done[Result]] = Future()
        future.set_running_or_notify_cancel()
        try:
            traces = tuple((trace, read_meta(Path(trace)).digest) for trace in task.traces)
        except TraceError as error:
            future.set_exception(error)
            return future
        parts = pickle.dumps(context), pickle.dumps(task)
        self._begin(_Request(task.label, *parts, traces, future, self._leading.cpu_s))
        return future

    def _led[Context, Result](self, context: Context, task: Task[Context, Result]) -> Done[Result]:
        handed_out: list[float] = []
        self._leading.cpu_s = handed_out
        done = carry_out(context, task)
        return Done(done.result, done.cpu_s + sum(handed_out))

    def _begin(self, request: _Request) -> None:
        with self._lock:
            if self._failed is not None:
                request.future.set_exception(self._failed)
                return
            begun = self._client.submit(
                serve,
                dict(identity()),
                request.context,
                request.task,
                request.traces,
                key=f"{request.label}-{uuid.uuid4()}",
                pure=False,
            )
            self._begun[request] = begun
            sent = self._sent.copy()
        begun.add_done_callback(partial(self._ended, request, sent))

    def _ended(
        self, request: _Request, sent: Counter[tuple[str, str]], begun: DaskFuture[Any]
    ) -> None:
        """Called in a thread of Dask. `sent`: traces that workers had when the task began."""
        with self._lock:
            if self._begun.pop(request, None) is None:
                return  # all have failed
        try:
            answer = begun.result()
            if isinstance(answer, Lacking):
                self._send(answer, request, sent)
                self._begin(request)
            elif isinstance(answer, Failed):
                request.future.set_exception(answer.error)
            else:
                if request.leader is not None:
                    request.leader.append(answer.cpu_s)
                request.future.set_result(answer)
        except KilledWorker as error:
            request.future.set_exception(
                SimulationError(
                    f"{request.label}: {error.allowed_failures + 1} workers died while they had "
                    f"this run, the last one at {error.last_worker.address}; it is not tried "
                    "again. Their logs may say why (often too little memory)"
                )
            )
        except ClusterError as error:
            request.future.set_exception(error)
        except CancelledError:
            request.future.set_exception(
                ClusterError(f"{self._where}: the scheduler has lost or cancelled {request.label}")
            )
        except Exception as error:
            request.future.set_exception(
                ClusterError(
                    f"{self._where}: {request.label} cannot be run there: "
                    f"{type(error).__name__}: {error}. Is the same autofinity installed for the "
                    "scheduler and for all workers?"
                )
            )

    def _send(self, lacking: Lacking, request: _Request, sent: Counter[tuple[str, str]]) -> None:
        """Send the worker what it lacks, unless that was done while the task was under way.

        Raises `ClusterError` for a worker that does not keep traces, or a trace that is too large.
        """
        folders = {digest: folder for folder, digest in request.traces}
        for digest in lacking.digests:
            there = lacking.worker, digest
            if self._sent[there] > sent[there]:
                continue
            if self._sent[there] == _SENDINGS:
                raise ClusterError(f"the worker {lacking.worker} does not keep traces; is it full?")
            packed = pack(Path(folders[digest]))
            try:
                self._client.run(keep_trace, digest, packed, workers=[lacking.worker])
            except Exception:
                # A worker that died in between; one that is alive answers the same again.
                if self._sent[there] == _SENDINGS - 1:
                    raise
            self._sent[there] += 1

    def _watch(self) -> None:
        """Look at the cluster until it is closed, and fail when there is nobody to wait for."""
        last_s = time.monotonic()
        while not self._closing.wait(_LOOK_S):
            try:
                self._look()
                if self._begun:
                    self._ask_for_workers()
            except ClusterError as error:
                self._fail(error)
                return
            except Exception as error:
                self._fail(
                    ClusterError(
                        f"{self._where}: the scheduler no longer answers ({type(error).__name__}); "
                        "recorded results are kept"
                    )
                )
                return
            now_s = time.monotonic()
            if self._threads or not self._begun:
                last_s = now_s
            elif now_s - last_s > self._patience_s:
                self._fail(self._nobody())
                return

    def _ask_for_workers(self) -> None:
        """Called at each look while tasks wait or run. Here workers come by themselves.

        Raises `ClusterError` where none can come.
        """

    def _look(self) -> None:
        found = self._client.nthreads(callback_timeout=_ANSWER_S)
        self._threads, self._workers = sum(found.values()), len(found)

    def _nobody(self) -> ClusterError:
        with self._lock:
            labels = sorted({request.label for request in self._begun})
        some = ", ".join(labels[:4]) + (" …" if len(labels) > 4 else "")
        return ClusterError(
            f"{self._where}: there has been no worker for {self._patience_s:.0f} s; these runs "
            f"wait for a worker, or were on the last workers: {some}. Start workers: `dask worker "
            f"{self._address}`"
        )

    def _fail(self, error: ClusterError) -> None:
        """All tasks fail, and those that come."""
        with self._lock:
            self._failed = self._failed or error
            begun, self._begun = self._begun, {}
        for request in begun:
            request.future.set_exception(error)
        with suppress(Exception):  # the scheduler may be gone, and forgets them by itself then
            self._client.cancel(list(begun.values()), asynchronous=False)


def connected(address: str) -> Client:
    """Client of the scheduler at `tcp://HOST:PORT` or `tls://HOST:PORT`.

    Certificates for TLS are those of Dask's configuration. Raises `ClusterError` where no scheduler
    answers in 10 s.
    """
    import warnings

    from distributed.security import Security

    if address.startswith("tls://") and not Security().get_connection_args("client")["ssl_context"]:
        raise ClusterError(
            f"{address} needs certificates; expected them in Dask's configuration "
            "(distributed.comm.tls)"
        )
    _reach(address)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # versions: ours are compared with each worker's
        try:
            return Client(address, timeout=_CONNECT_S, set_as_default=False, name="autofinity")
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise ClusterError(
                f"no Dask scheduler answers at {address} in {_CONNECT_S} s: {error}; expected "
                "one that was started with `dask scheduler`"
            ) from None


def _reach(address: str) -> None:
    """Raise `ClusterError` where nothing listens: Dask would try for as long as it may wait."""
    parts = urlsplit(address)
    try:
        socket.create_connection((parts.hostname or "", parts.port or 0), _REACH_S).close()
    except (OSError, UnicodeError) as error:  # the latter for what can be no name of a host
        why = error.strerror if isinstance(error, OSError) else None
        raise ClusterError(
            f"no Dask scheduler answers at {address}: {why or error}; expected one that "
            "was started with `dask scheduler`"
        ) from None
