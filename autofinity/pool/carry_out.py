"""One task, done in the present thread, with its CPU time."""

from __future__ import annotations

import time
from collections.abc import Mapping

from autofinity.ports import Done, Task


def carry_out[Context, Result](
    context: Context, task: Task[Context, Result], folders: Mapping[str, str] | None = None
) -> Done[Result]:
    """Do the task. `folders` as for `Task.work`; None: all traces are where the task says.

    Raises the errors of the task.
    """
    started_s = time.thread_time()
    if folders is None:
        folders = {trace: trace for trace in task.traces}
    result = task.work(context, folders)
    return Done(result, time.thread_time() - started_s)
