"""`run --db postgresql://…`: the finished run reaches the site; the network holds nothing up."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from postgres_server import Server, running
from site_rows import count

from autofinity.model.errors import StoreError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.site_db import SiteDB
from autofinity.store.spool import Spool

type Runner = Any  # of conftest.py

PASSWORD = "not-to-be-shown"


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
        return sum(Spool(database.session).waiting_count().values())


def shown_by_processes_of(run: Runner) -> bytes:
    """Arguments of processes that have the state folder of this test in their environment. Another
    test may be starting a run, whose command line has the URL, at the same moment.
    """
    found = b""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if str(run.state).encode() in (entry / "environ").read_bytes():
                found += (entry / "cmdline").read_bytes()
    return found


def finished(
    run: Runner, *options: str, env: Mapping[str, str] | None = None, db: Path | None = None
) -> tuple[int, bytes]:
    """A program under the launcher that ends once it is watched and on record in `db` (by default
    the usual one); its exit code and what was printed. No process shows the password meanwhile.
    """
    process = run.start(
        *options,
        *("--", "sh", "-c", "env; read line; exit 3"),
        env=run.env | dict(env or {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert run.eventually(lambda: bool(run.monitors_of(process.pid)))
    shown = shown_by_processes_of(run)
    assert b"autofinity.runtime.monitor" in shown and PASSWORD.encode() not in shown
    if "--no-db" not in options:
        assert run.eventually(lambda: on_record(db or run.db, process.pid))
    printed, _ = process.communicate(b"\n")
    return process.returncode, printed


def on_record(db: Path, pid: int) -> bool:
    with suppress(StoreError), BehaviourDB.open(db, read_only=True) as database:
        return any(each.pid == pid for each in database.runs())
    return False


def test_the_finished_run_is_sent_and_the_password_is_shown_nowhere(
    run: Runner, server: Server
) -> None:
    before = arrived(server)
    code, printed = finished(run, "--db", server.tcp_url("ann", PASSWORD))
    assert code == 3
    assert b"AUTOFINITY_SITE_DB" not in printed and PASSWORD.encode() not in printed

    def there() -> bool:
        assert PASSWORD.encode() not in shown_by_processes_of(run)
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
        assert finished(run, "--db", url)[0] == 3
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
    other = tmp_path / "own" / "db"
    options = {"by --no-db": ("--no-db",), "by another file": ("--db", str(other))}
    value = "a-file" if named == "by no URL" else server.url("ann")
    before = arrived(server)
    _, printed = finished(
        run,
        *options.get(named, ()),
        env={"AUTOFINITY_SITE_DB": value},
        db=other if named == "by another file" else None,
    )
    told = b"AUTOFINITY_SITE_DB is no postgresql:// URL" in printed
    assert told == (named == "by no URL"), printed
    assert run.eventually(lambda: b"autofinity" not in shown_by_processes_of(run))
    assert arrived(server) == before
    assert not list(tmp_path.rglob("push.l*"))


def test_a_program_that_was_attached_to_is_sent_too(run: Runner, server: Server) -> None:
    before = arrived(server)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program:
        watching = subprocess.Popen(
            [run.launcher, "attach", str(program.pid), "--db", server.url("ann")],
            env=run.env,
            stderr=subprocess.PIPE,
        )
        assert run.eventually(lambda: on_record(run.db, program.pid))
        program.communicate()
    assert b"the program has ended" in watching.communicate()[1]
    assert run.eventually(lambda: arrived(server) == before + 1)
    assert run.eventually(lambda: waiting(run) == 0)


def test_a_dry_run_names_the_site_without_its_password(run: Runner) -> None:
    url = f"postgresql://ann:{PASSWORD}@db.example/runs"
    done = run("--dry-run", "--db", url, "--", "true")
    assert b"sent to   postgresql://ann@db.example/runs\n" in done.stdout, done
    assert PASSWORD.encode() not in done.stdout + done.stderr


@pytest.mark.parametrize("begins", ["POSTGRESQL://", "mysql://", "postgres:"])
@pytest.mark.parametrize("command", ["run", "push", "rebuild", "status"])
def test_a_url_of_another_kind_is_no_file_and_is_shown_nowhere(
    run: Runner, tmp_path: Path, begins: str, command: str
) -> None:
    url = f"{begins}ann:{PASSWORD}@db.example/runs"
    rest = ["--", "true"] if command == "run" else []
    words = [run.launcher, command, "--db", url, *rest]
    done = subprocess.run(words, env=run.env, cwd=tmp_path, capture_output=True)
    assert done.returncode == 2
    assert b"--db" in done.stderr and PASSWORD.encode() not in done.stdout + done.stderr
    assert not list(tmp_path.glob("*:*"))


def test_the_environment_names_the_site_for_all_runs(run: Runner, server: Server) -> None:
    before = arrived(server)
    finished(run, env={"AUTOFINITY_SITE_DB": server.url("ann")})
    assert run.eventually(lambda: arrived(server) == before + 1)
