"""The pool that makes the wanted runs."""

from __future__ import annotations

from contextlib import AbstractContextManager

from autofinity.model.errors import UsageError
from autofinity.pool.local import LocalPool
from autofinity.ports import Pool
from autofinity.reporter import Reporter
from autofinity.workflow.wanted import Wanted


def pool_for(wanted: Wanted, reporter: Reporter) -> AbstractContextManager[Pool]:
    """Threads of this process, or the workers that `wanted.on` names.

    Raises `UsageError` for runs on the present machine itself that are wanted on others, and the
    errors of `pool_on`.
    """
    if not wanted.on:
        return LocalPool(wanted.at_once)
    if wanted.native:
        raise UsageError(
            f"--on {wanted.on}: --machine host runs programs on this machine itself; call "
            "autofinity on the machine that is meant, or name a simulated machine"
        )
    from autofinity.pool.place import pool_on

    return pool_on(wanted.on, wanted.jobs, wanted.work, reporter.notice)
