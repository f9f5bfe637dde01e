"""Two hundred writers, a server that is killed and a disk that is full: a site's database has each
run once in the end, and none is lost.
"""

from __future__ import annotations

import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from postgres_server import Server, running
from site_rows import count, spooled

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.site_db import SiteDB
from autofinity.store.spool import Spool
from autofinity.workflow.push import push

WRITERS = 200
RUNS = 3  # of each
PATIENCE_S = 300


def until_sent(url: str, spool: Path, give_up: float) -> int:
    """Send as a host does run after run, until nothing waits; return the number of failures."""
    failures = 0
    while time.monotonic() < give_up:
        with suppress(StoreError):
            if not push(url, spool).busy:
                return failures
        failures += 1
        time.sleep(2 * random.random())
    raise AssertionError(f"{spool} waits for longer than {PATIENCE_S} s")


def written(url: str, folder: Path, disturb: Callable[[], None]) -> list[int]:
    """Fill spools and send them, all at once, while something is done to the server; the failures
    of each writer.
    """
    spools = [folder / f"host{number}" / "behaviour.db" for number in range(WRITERS)]

    def write(spool: Path) -> int:
        spooled(spool, url, RUNS)
        return until_sent(url, spool, time.monotonic() + PATIENCE_S)

    with ThreadPoolExecutor(WRITERS + 1) as pool:
        disturbed = pool.submit(disturb)
        failures = list(pool.map(write, spools))
        disturbed.result()
    for spool in spools:
        with BehaviourDB.open(spool, read_only=True) as database:
            assert not Spool(database.session).waiting_count()
    return failures


def assert_all_is_there_once(server: Server, runs: int = WRITERS * RUNS) -> None:
    with server.admin() as admin:
        for table, rows in (("run", runs), ("observation", 2 * runs)):
            assert count(admin, f"SELECT count(*) FROM autofinity.{table}") == rows
        assert count(admin, "SELECT count(DISTINCT uuid) FROM autofinity.run") == runs
        assert not count(
            admin,
            "SELECT count(*) FROM autofinity.run WHERE (SELECT count(*) FROM autofinity.observation"
            " AS seen WHERE seen.run_uuid = run.uuid) <> 2",
        )


def runs_there(server: Server) -> int:
    """Number of runs on the server; 0 also where it turns us away, as it does writers."""
    with suppress(psycopg.OperationalError), server.admin() as admin:
        return int(count(admin, "SELECT count(*) FROM autofinity.run"))
    return 0


def test_two_hundred_writers_and_a_server_that_is_killed_in_the_middle(tmp_path: Path) -> None:
    # Fewer connections than writers: most are turned away at first.
    with running("max_connections=100", "superuser_reserved_connections=3") as server:
        with server.admin() as admin:
            admin.execute("CREATE ROLE ann LOGIN")
        with SiteDB.open(server.url()) as site:
            site.init("own")

        there_at_kills = []

        def kill_and_start() -> None:
            for wanted in (30, 200):
                while (there := runs_there(server)) < wanted:
                    time.sleep(0.05)
                there_at_kills.append(there)
                server.kill()
                server.start()

        failures = written(server.url("ann"), tmp_path, kill_and_start)
        assert there_at_kills[0] < WRITERS * RUNS  # in the middle
        assert sum(failures) > 0
        assert_all_is_there_once(server)


@contextmanager
def small_disk(size_mib: int) -> Iterator[Path]:
    """A folder with so much space; skips the test where this user may not mount."""
    folder = Path(tempfile.mkdtemp(prefix="autofinity-disk-"))
    words = ["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(words, capture_output=True, text=True)
        if mounted.returncode != 0:
            pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
        try:
            yield folder
        finally:
            subprocess.run(["umount", str(folder)], check=True)
    finally:
        folder.rmdir()


def test_a_full_disk_of_the_server_loses_nothing(tmp_path: Path) -> None:
    with (
        small_disk(160) as disk,
        running("max_wal_size=32MB", "min_wal_size=32MB", folder=disk) as server,
    ):
        with server.admin() as admin:
            admin.execute("CREATE ROLE ann LOGIN")
        with SiteDB.open(server.url()) as site:
            site.init("own")
        spool, url = tmp_path / "behaviour.db", server.url("ann")
        spooled(spool, url, 20)
        assert push(url, spool).sent == 20
        with (disk / "ballast").open("wb") as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(1 << 16))
        spooled(spool, url, 500)
        with pytest.raises(OSError, match="No space left"):
            (disk / "more").write_bytes(bytes(1 << 16))
        with pytest.raises(StoreError):
            push(url, spool)
        with BehaviourDB.open(spool, read_only=True) as database:
            assert Spool(database.session).waiting_count()
        (disk / "ballast").unlink()
        (disk / "more").unlink()
        if not server.alive:  # it ends itself where its log cannot be written
            server.start()
        until_sent(url, spool, time.monotonic() + PATIENCE_S)
        assert_all_is_there_once(server, 520)
