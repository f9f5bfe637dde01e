"""`run --db postgresql://…`: the finished run reaches the site; the network holds nothing up."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server, running
from site_rows import count

from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.site_db import SiteDB

type Runner = Any  # of conftest.py

PASSWORD = "not-to-be-shown"
SLEEPY = ("sh", "-c", "sleep 1; exit 3")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running("fsync=off") as started:
        with started.admin() as admin:
            admin.execute(f"CREATE ROLE ann LOGIN PASSWORD '{PASSWORD}'")  # type: ignore[arg-type]
        with SiteDB.open(started.url()) as site:
            site.init("own")
        yield started


def arrived(server: Server) -> int:
    with server.admin() as admin:
        return int(count(admin, "SELECT count(*) FROM autofinity.run WHERE owner = 'ann'"))


def waiting(run: Runner) -> int:
    with BehaviourDB.open(run.db, read_only=True) as database:
        return sum(database.waiting_count().values())


def shown_by_processes() -> bytes:
    """Arguments of all processes."""
    found = b""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            found += entry.read_bytes()
    return found


def test_the_finished_run_is_sent_and_the_password_is_shown_nowhere(
    run: Runner, server: Server
) -> None:
    url, before = server.tcp_url("ann", PASSWORD), arrived(server)
    process = subprocess.Popen(
        run.command("--db", url, "--", "sh", "-c", "env; sleep 1; exit 3"),
        env=run.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # The first is the launcher's own argument, which it takes from sight.
    assert run.eventually(lambda: bool(run.monitors_of(process.pid)))
    while process.poll() is None:
        assert PASSWORD.encode() not in shown_by_processes()
        time.sleep(0.05)
    out, said = process.communicate()
    assert process.returncode == 3
    assert b"AUTOFINITY_SITE_DB" not in out and PASSWORD.encode() not in out + said

    def there() -> bool:
        assert PASSWORD.encode() not in shown_by_processes()
        return arrived(server) == before + 1

    assert run.eventually(there)
    assert run.eventually(lambda: waiting(run) == 0)
    for path in run.db.parent.iterdir():
        assert PASSWORD.encode() not in path.read_bytes(), path


def test_a_site_that_never_answers_holds_nothing_up_and_gets_the_run_next_time(
    run: Runner, server: Server
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://ann@127.0.0.1:{silent.getsockname()[1]}/runs"
        done = subprocess.run(run.command("--db", url, "--", *SLEEPY), env=run.env, check=False)
        assert done.returncode == 3
        assert run.eventually(lambda: waiting(run) == 1)  # whoever waits for the site, or not
        log = run.db.with_name("push.log")
        assert run.eventually(lambda: log.exists() and b"cannot be used" in log.read_bytes())
    before = arrived(server)
    pushed = subprocess.run(
        [run.launcher, "push", "--all"],
        env=run.env | {"AUTOFINITY_SITE_DB": server.url("ann")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert pushed.stdout.startswith("1 runs sent to postgresql://ann@")
    assert (arrived(server), waiting(run)) == (before + 1, 0)


@pytest.mark.parametrize("named", ["by --no-db", "by another file", "by no URL"])
def test_runs_without_the_site_stay_here(
    run: Runner, server: Server, tmp_path: Path, named: str
) -> None:
    options = {
        "by --no-db": ("--no-db",),
        "by another file": ("--db", str(tmp_path / "own" / "db")),
    }
    value = "a-file" if named == "by no URL" else server.url("ann")
    before = arrived(server)
    done = subprocess.run(
        run.command(*options.get(named, ()), "--", *SLEEPY),
        env=run.env | {"AUTOFINITY_SITE_DB": value},
        check=False,
        capture_output=True,
    )
    told = b"AUTOFINITY_SITE_DB is no postgresql:// URL" in done.stderr
    assert told == (named == "by no URL"), done.stderr
    assert run.eventually(lambda: b"autofinity.runtime.monitor" not in shown_by_processes_of(run))
    assert arrived(server) == before
    assert not list(tmp_path.rglob("push.log"))


def shown_by_processes_of(run: Runner) -> bytes:
    """Arguments of processes that have the state folder of this test in their environment."""
    found = b""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(run.state).encode() in (entry / "environ").read_bytes():
                found += (entry / "cmdline").read_bytes()
    return found


def test_the_environment_names_the_site_for_all_runs(run: Runner, server: Server) -> None:
    before = arrived(server)
    subprocess.run(
        run.command("--", *SLEEPY),
        env=run.env | {"AUTOFINITY_SITE_DB": server.url("ann")},
        check=False,
    )
    assert run.eventually(lambda: arrived(server) == before + 1)
    assert os.path.exists(run.db)
