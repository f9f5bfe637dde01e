"""A program that is started here to be advised on: it runs as it would alone, to its end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autofinity.child_program import exit_code_of
from autofinity.linux.handed_signals import handed_signals
from autofinity.model.errors import AutofinityError, UsageError
from autofinity.reporter import SILENT, Reporter
from autofinity.runtime.policies import Choice
from autofinity.workflow.advice.here import seen_here
from autofinity.workflow.advice.seen import Seen
from autofinity.workflow.meanwhile import told_meanwhile

_OURS = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores them, and what is ignored stays so over exec."""

_ENDED = "the program ended before anything was seen of it"


@dataclass(frozen=True, slots=True)
class Launched:
    """Result of a program that advice launched."""

    exit_code: int
    """The program's, 128 + n for signal n; 126 or 127 where it cannot be run."""
    seen: Seen | None
    trouble: str
    """Why nothing was seen; empty where something was."""


def seen_launched(
    argv: Sequence[str],
    choice: Choice | None,
    *,
    threads: int = 0,
    to_stderr: bool = False,
    reporter: Reporter = SILENT,
) -> Launched:
    """Run a program on our standard streams, or with its stdout on stderr (`to_stderr`), and watch
    the program. Whatever fails on our side, the program runs. A notice says of a program that runs
    long whether it is still watched. Raises `UsageError` for no program.
    """
    if not argv:
        raise UsageError("no program to run; expected its name and arguments")
    sys.stdout.flush()
    sys.stderr.flush()
    with handed_signals() as hand_to:
        try:
            pid = os.posix_spawnp(
                argv[0],
                list(argv),
                os.environ,
                file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)] if to_stderr else [],
                setsigdef=_OURS,
            )
        except OSError as error:
            code = 127 if isinstance(error, FileNotFoundError) else 126
            return Launched(code, None, f"cannot run {argv[0]}: {error.strerror}")
        hand_to(pid)
        return _watched_to_its_end(pid, Path(argv[0]).name, choice, threads, reporter)


def _watched_to_its_end(
    pid: int, name: str, choice: Choice | None, threads: int, reporter: Reporter
) -> Launched:
    seen, trouble = None, ""
    watched = threading.Event()

    def what() -> str:
        return "the advice follows when it ends" if watched.is_set() else "it is being watched"

    with told_meanwhile(name, what, reporter):
        try:
            seen = seen_here(pid, choice, threads)
        except AutofinityError as error:
            trouble = _ENDED if _has_ended(pid) else str(error)
        finally:
            watched.set()
            _, status = os.waitpid(pid, 0)
    if seen is not None:  # at that moment a script's process may have been env, or a shell
        seen = replace(seen, program=name)
    return Launched(exit_code_of(status), seen, trouble)


def _has_ended(pid: int) -> bool:
    """Whether our child has ended; the child can still be waited for afterwards."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
