"""Putting masks back: what threads might run on before a run bound them."""

from __future__ import annotations

import os
import select
import signal
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

from autofinity.linux.bind import bind_thread
from autofinity.linux.cpu_lists import parse_cpu_list
from autofinity.linux.identity import ProcessIdentity
from autofinity.model.errors import CapabilityError
from autofinity.runtime.claims import monitor_of
from autofinity.runtime.threads_now import threads_now
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

_STOP_MS = 5_000
_PASSES = 8  # a thread that is born while its creator is set free has the narrow mask still


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of the threads of a run."""

    done: int
    """Threads that have their mask again."""
    pinned: int
    """Threads that somebody else has pinned meanwhile: left alone."""
    refused: Mapping[str, int]
    """Reason → threads the kernel refused."""


def restore(database: BehaviourDB, run: RunRecord) -> Restored:
    """End the watching of a live run, put back its threads' masks and give back its claim.

    Threads that are gone are nobody's loss. Raises `CapabilityError` when its monitor cannot be
    stopped, `StoreError`.
    """
    stop(monitor_of(run))
    rows = database.masks(run.id)
    before = {(row.tid, row.start_ticks): row.before for row in rows}
    done = pinned = 0
    refused: Counter[str] = Counter()
    for _ in range(_PASSES):
        threads = threads_now(run, rows)
        pinned = sum(thread.author == "others" for thread in threads)
        ours = [thread for thread in threads if thread.author == "autofinity"]
        refused = Counter()
        for thread in ours:
            mask = before.get((thread.tid, thread.started), run.allowed)
            refusal = bind_thread(thread.tid, parse_cpu_list(mask))
            done += refusal is None
            if refusal not in (None, "ended"):
                refused[str(refusal)] += 1
        if len(ours) == sum(refused.values()):
            break
    if not refused:
        database.update_run(run.id, phase="restored", cpus="")
        database.forget_masks(run.id)
    return Restored(done, pinned, dict(refused))


def stop(process: ProcessIdentity) -> None:
    """End a process with SIGTERM, if it still is that one, and wait until it is gone.

    Raises `CapabilityError`: not permitted, or it does not end.
    """
    if not process.start_ticks or process.pid == os.getpid():
        return
    with suppress(ProcessLookupError):
        pidfd = os.pidfd_open(process.pid)
        try:
            if not process.alive:
                return
            signal.pidfd_send_signal(pidfd, signal.SIGTERM)
            ended = select.poll()
            ended.register(pidfd, select.POLLIN)
            if not ended.poll(_STOP_MS):
                raise CapabilityError(
                    f"the monitor (pid {process.pid}) does not end; expected it to be gone within "
                    f"{_STOP_MS // 1000} s of SIGTERM; masks stay as they are"
                )
        except PermissionError as error:
            raise CapabilityError(
                f"the monitor (pid {process.pid}) is another user's; run this as that user or root"
            ) from error
        finally:
            os.close(pidfd)
