"""Kill writers of one behaviour database at random, and look for what they had committed.

    python scripts/tools/kill_writers.py --writers 200 --rows 20000

Every writer is a process of its own that reports each row to a pipe after its commit. Writers are
killed with SIGKILL one after the other, at random, and replaced, until enough rows are there; then
all are killed at once. Exit code 1: a row that was reported is not in the database, or the database
is damaged.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import sqlite3
import struct
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from autofinity.model.affinity import PACKED
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import MaskRecord

_ROW = struct.Struct("II")  # writer, row


@dataclass
class Outcome:
    """The rows that were reported, and those that were found."""

    committed: int
    lost: int
    kills: int
    integrity: str
    seconds: float


def main() -> int:
    """Entry."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--writers", type=int, default=200, help="at a time")
    parser.add_argument("--rows", type=int, default=20_000, help="to be committed in all")
    parser.add_argument("--kill-every", type=int, default=25, help="rows, on average")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = soak(
            Path(folder) / "behaviour.db",
            options.writers,
            options.rows,
            options.kill_every,
            random.Random(options.seed),
        )
    print(
        f"{options.writers} writers at a time, {done.kills} killed with -9: {done.committed} rows "
        f"committed, {done.lost} lost, integrity {done.integrity} ({done.seconds:.0f} s)"
    )
    return 0 if done.lost == 0 and done.integrity == "ok" else 1


def soak(path: Path, writers: int, rows: int, kill_every: int, dice: random.Random) -> Outcome:
    """Write and kill until `rows` rows were reported; then count."""
    BehaviourDB.open(path).close()
    begun = time.monotonic()
    reading, writing = os.pipe()
    numbers = iter(range(1, 1 << 30))
    alive = [_start(path, next(numbers), reading, writing) for _ in range(writers)]
    told: set[tuple[int, int]] = set()
    kills = 0
    while len(told) < rows:
        told.update(_ROW.iter_unpack(_read_rows(reading)))
        while kills < len(told) // kill_every:
            victim = alive.pop(dice.randrange(len(alive)))
            os.kill(victim, signal.SIGKILL)
            os.waitpid(victim, 0)
            kills += 1
            alive.append(_start(path, next(numbers), reading, writing))
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    os.close(writing)
    while more := os.read(reading, 1 << 16):
        told.update(_ROW.iter_unpack(more))
    os.close(reading)
    with BehaviourDB.open(path) as database:
        found = {(int(known.program), known.threads) for known in database.programs()}
    integrity = str(sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone()[0])
    return Outcome(
        len(told), len(told - found), kills + len(alive), integrity, time.monotonic() - begun
    )


def _read_rows(reading: int) -> bytes:
    select.select([reading], [], [])
    # A row is written whole (it is smaller than PIPE_BUF), so the pipe holds whole rows.
    return os.read(reading, _ROW.size << 10)


def _start(path: Path, number: int, reading: int, writing: int) -> int:
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(reading)
        _write(path, number, writing)
        code = 0
    finally:
        os._exit(code)


def _write(path: Path, number: int, told: int) -> None:
    """Write a monitor's rows, again and again."""
    key = str(number)
    database = BehaviourDB.open(path, timeout_s=600)
    run = database.begin_run(key, "/bin/x", number, "software events")
    for row in range(1, 1 << 30):
        database.remember_sample(key, "/bin/x", row, {"ipc": 1.0}, "software events")
        os.write(told, _ROW.pack(number, row))
        database.remember_hint(key, row, PACKED, "policy")
        database.masks.remember(run, [MaskRecord(row, row, "0-7", "0-3")])
        database.update_run(run, threads=row, hint=PACKED, phase="placed", cpus="0-3")


if __name__ == "__main__":
    raise SystemExit(main())
