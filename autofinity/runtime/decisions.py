"""The decision cache, from which the launcher binds a known program before it starts.

A text file beside the behaviour database. It is rewritten by rename after each decision and read by
the native launcher, which has no SQLite. Its loss is harmless: it is derived from the database.

    autofinity-decisions 3
    KEY THREADS POLICY_DIGEST llc|core MACHINE HINT ALLOWED MASK SEATS
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.affinity import Hint
from autofinity.model.errors import StoreError, UsageError
from autofinity.runtime.creation_seats import NO_SEATS, is_seats
from autofinity.runtime.side_lines import beginning, entries
from autofinity.whole_file import replace_file

HEAD = "autofinity-decisions 3"
ANY = "-"
"""Program and policy of the seats that an unknown program starts on."""
_MOST = 4096  # lines kept; the newest are first


@dataclass(frozen=True, slots=True)
class CachedDecision:
    """One line: a program with a number of threads, under a policy, on these CPUs of a machine."""

    program: str
    threads: int
    policy: str
    bind: str
    machine: str
    """Key of the machine from `linux.machine_key`: nodes of several kinds may share a home
    directory."""
    hint: Hint
    allowed: str
    """CPU list that was allowed when the decision was made; the decision is invalid for another
    list."""
    mask: str
    """CPU list the whole process is bound to before exec."""
    seats: str = NO_SEATS
    """Masks of threads as they are created (`creation_seats`)."""

    @property
    def _subject(self) -> tuple[str, int, str, str, str]:
        return self.program, self.threads, self.policy, self.bind, self.machine

    def line(self) -> str:
        """The line that the launcher reads."""
        return (
            f"{self.program} {self.threads} {self.policy} {self.bind} {self.machine} "
            f"{self.hint} {self.allowed} {self.mask} {self.seats}"
        )

    @staticmethod
    def parse(line: str) -> CachedDecision:
        """Inverse of `line`. Raises `ValueError` or `UsageError`."""
        program, threads, policy, bind, machine, letters, allowed, mask, seats = line.split(" ")
        if not is_seats(seats):
            raise ValueError(seats)
        hint = Hint.from_letters(letters)
        return CachedDecision(
            program, int(threads), policy, bind, machine, hint, allowed, mask, seats
        )


def read_decisions(path: Path) -> tuple[CachedDecision, ...]:
    """All valid lines, newest first; empty when the file is missing or foreign."""
    found = []
    for line in entries(path, HEAD):
        with suppress(ValueError, UsageError):
            found.append(CachedDecision.parse(line))
    return tuple(found)


def write_decision(path: Path, *decisions: CachedDecision) -> None:
    """Put `decisions` first, in place of older ones of the same subjects. Raises `StoreError`.

    Call this function inside a write transaction of the database when several monitors may write:
    the rename is atomic, but the last to read and write wins.
    """
    subjects = {decision._subject for decision in decisions}
    kept = [old for old in read_decisions(path) if old._subject not in subjects]
    lines = (entry.line() for entry in [*decisions, *kept][:_MOST])
    try:
        replace_file(path, beginning(HEAD, lines), durable=False, private=True)
    except OSError as error:
        raise StoreError(f"the decision cache {path} cannot be written: {error}") from error
