"""The decision cache: what the launcher binds by before a known program starts.

A text file beside the behaviour database, written anew by rename after each decision and read by
the native launcher, which has no SQLite. Losing it loses nothing: it is made of the database.

    autofinity-decisions 2
    KEY THREADS POLICY_DIGEST llc|core MACHINE HINT ALLOWED MASK
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.affinity import Hint
from autofinity.model.errors import StoreError
from autofinity.runtime.side_lines import beginning, entries
from autofinity.whole_file import replace_file

HEAD = "autofinity-decisions 2"
_MOST = 4096  # lines kept; the newest are first


@dataclass(frozen=True, slots=True)
class CachedDecision:
    """One line: a program with so many threads, under a policy, on these CPUs of a machine."""

    program: str
    threads: int
    policy: str
    bind: str
    machine: str
    """As `linux.machine_key` names it: home directories are shared by nodes of several kinds."""
    hint: Hint
    allowed: str
    """CPU list that was allowed when the decision was made; another one makes it invalid."""
    mask: str
    """CPU list the whole process is bound to before exec."""

    @property
    def _subject(self) -> tuple[str, int, str, str, str]:
        return self.program, self.threads, self.policy, self.bind, self.machine

    def line(self) -> str:
        """As the launcher reads it."""
        return (
            f"{self.program} {self.threads} {self.policy} {self.bind} {self.machine} "
            f"{self.hint} {self.allowed} {self.mask}"
        )

    @staticmethod
    def parse(line: str) -> CachedDecision:
        """Inverse of `line`. Raises `ValueError`."""
        program, threads, policy, bind, machine, hint, allowed, mask = line.split(" ")
        return CachedDecision(
            program, int(threads), policy, bind, machine, Hint.from_letters(hint), allowed, mask
        )


def read_decisions(path: Path) -> tuple[CachedDecision, ...]:
    """All lines that can be read, newest first; none when the file is missing or foreign."""
    found = []
    for line in entries(path, HEAD):
        with suppress(ValueError):
            found.append(CachedDecision.parse(line))
    return tuple(found)


def write_decision(path: Path, decision: CachedDecision) -> None:
    """Put `decision` first, in place of an older one of the same subject. Raises `StoreError`.

    Call it inside a write transaction of the database when several monitors may write: the rename
    is atomic, but the last to read and write wins.
    """
    kept = [old for old in read_decisions(path) if old._subject != decision._subject]
    lines = (entry.line() for entry in [decision, *kept][:_MOST])
    try:
        replace_file(path, beginning(HEAD, lines), durable=False, private=True)
    except OSError as error:
        raise StoreError(f"the decision cache {path} cannot be written: {error}") from error
