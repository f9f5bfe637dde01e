"""Finished runs reach a site's database once, whatever happens on the way (a real PostgreSQL)."""

from __future__ import annotations

import shutil
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
from own_database import by_hand
from postgres_server import Server, running
from site_rows import MACHINE, SAMPLE, count, spooled

from autofinity.model.errors import StoreError
from autofinity.private_file import locked
from autofinity.runtime.sending import SEND_LOCK, start_sending
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_schema import SCHEMA_VERSION, Column, tables_of
from autofinity.store.site_address import site_name
from autofinity.store.site_db import SiteDB
from autofinity.store.site_schema import migration
from autofinity.store.spool import SITE_TABLES, Spool, site_columns
from autofinity.workflow.push import push


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running("fsync=off") as started:
        with started.admin() as admin:
            admin.execute("CREATE ROLE ann LOGIN")
            admin.execute("CREATE ROLE bob LOGIN PASSWORD 'not-shown'")
        yield started


@pytest.fixture
def site(server: Server) -> Iterator[Server]:
    """The server, with fresh tables."""
    with SiteDB.open(server.url()) as database:
        database.init("own")
    yield server
    with server.admin() as admin:
        admin.execute("DROP SCHEMA autofinity CASCADE")


def waiting(spool: Path) -> int:
    with BehaviourDB.open(spool) as database:
        return sum(Spool(database.session).waiting_count().values())


def asked(site: SiteDB, question: str) -> object:
    with site._site.exchange():
        return site._site.one(question)


def test_a_run_arrives_with_all_that_belongs_to_it(site: Server, tmp_path: Path) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url, 2, path="/odd/\udcff name")
    assert push(url, spool).sent == 2
    assert waiting(spool) == 0
    with BehaviourDB.open(spool) as database:
        with database.session.statement() as connection:
            connection.execute("UPDATE run SET sent = NULL")
        expected = Spool(database.session).waiting(None, 10)
    with site.admin() as admin:
        for table, rows in (
            ("run", [each.run for each in expected]),
            ("program", [expected[0].program]),
            ("observation", [row for each in expected for row in each.observations]),
        ):
            columns = site_columns(table)
            found = admin.execute(
                f"SELECT {', '.join(columns)} FROM autofinity.{table} ORDER BY 1"  # type: ignore[arg-type]
            ).fetchall()
            assert found == [tuple(row[name] for name in columns) for row in rows]
        assert count(admin, "SELECT path FROM autofinity.program") == b"/odd/\xff name"
        assert count(admin, "SELECT count(DISTINCT owner) FROM autofinity.run") == 1
        assert count(admin, "SELECT max(owner) FROM autofinity.run") == "ann"


def test_what_is_sent_again_is_there_once(
    site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url, 3)
    with monkeypatch.context() as killed:
        killed.setattr(Spool, "mark_sent", lambda *_, **__: sys.exit("killed"))
        with pytest.raises(SystemExit):
            push(url, spool)
    assert waiting(spool) == 3
    assert push(url, spool).sent == 3
    assert push(url, spool).sent == 0
    with site.admin() as admin:
        assert count(admin, "SELECT count(*) FROM autofinity.run") == 3
        assert count(admin, "SELECT count(*) FROM autofinity.observation") == 6


def test_only_finished_runs_that_began_under_this_site_are_sent(
    site: Server, tmp_path: Path
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, "", 1)
    spooled(spool, "postgresql://elsewhere/runs", 1)
    spooled(spool, url, 1, ended=False)
    spooled(spool, url, 1)
    assert push(url, spool).sent == 1
    with BehaviourDB.open(spool, read_only=True) as database:
        assert Spool(database.session).waiting_count() == {"postgresql://elsewhere/runs": 1}
    assert push(url, spool, everything=True).sent == 2
    assert push(url, spool, everything=True).sent == 0


def test_runs_that_the_owner_deletes_take_their_observations_along_and_do_not_come_back(
    site: Server, tmp_path: Path
) -> None:
    spooled(tmp_path / "db", site.url("ann"), 2)
    push(site.url("ann"), tmp_path / "db")
    with site.admin() as admin:
        admin.execute("DELETE FROM autofinity.run WHERE id = 1")
        assert count(admin, "SELECT count(*) FROM autofinity.observation") == 2
        assert push(site.url("ann"), tmp_path / "db", everything=True).sent == 0
        assert count(admin, "SELECT count(*) FROM autofinity.run") == 1


def test_the_password_of_a_url_does_not_part_runs_of_one_site(site: Server, tmp_path: Path) -> None:
    spooled(tmp_path / "db", site.tcp_url("bob", "old-password"))
    assert push(site.tcp_url("bob", "not-shown"), tmp_path / "db").sent == 1


def test_a_spool_that_was_copied_gives_no_run_twice_and_loses_none(
    site: Server, tmp_path: Path
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url, 2)
    shutil.copy(spool, tmp_path / "copy")
    spooled(spool, url, 1)
    spooled(tmp_path / "copy", url, 1)  # a run of the same number
    push(url, spool)
    push(url, tmp_path / "copy")
    with site.admin() as admin:
        assert count(admin, "SELECT count(*) FROM autofinity.run") == 4
        assert count(admin, "SELECT count(*) FROM autofinity.observation") == 8


def test_a_run_that_no_database_takes_does_not_hold_up_the_others(
    site: Server, tmp_path: Path
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url, 120)
    with by_hand(spool) as rows:
        rows.execute("UPDATE run SET allowed = '0' || char(0) || '1' WHERE id = 7")
        rows.execute("UPDATE run SET cpus = CAST(x'ff' AS TEXT) WHERE id = 60")
    done = push(url, spool)
    assert (done.sent, len(done.refused)) == (118, 2)
    assert done.refused[0].startswith("run 7: ")
    assert waiting(spool) == 0
    with by_hand(spool) as rows:
        rows.execute("UPDATE run SET allowed = '0' WHERE id = 7")
    assert push(url, spool).sent == 0
    assert push(url, spool, everything=True).sent == 1  # tried again when asked to


def test_a_site_that_is_not_reached_leaves_runs_waiting(tmp_path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"postgresql://me:not-shown@127.0.0.1:{closed.getsockname()[1]}/runs"
        spooled(tmp_path / "db", url)
        with pytest.raises(StoreError, match="cannot be used") as caught:
            push(url, tmp_path / "db")
    assert "not-shown" not in str(caught.value)
    assert waiting(tmp_path / "db") == 1


def test_a_server_that_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me@127.0.0.1:{silent.getsockname()[1]}/runs"
        spooled(tmp_path / "db", url)
        begin = time.monotonic()
        with pytest.raises(StoreError):
            push(url, tmp_path / "db")
        assert time.monotonic() - begin < 60
    assert waiting(tmp_path / "db") == 1


def test_a_server_that_stops_in_the_middle_is_not_waited_for(site: Server, tmp_path: Path) -> None:
    url = site.url("ann")
    spooled(tmp_path / "db", url)
    with BehaviourDB.open(tmp_path / "db") as opened:
        runs = Spool(opened.session).waiting(None, 1)
    with SiteDB.open(url, patience_s=0.5) as database:
        site.hang(True)
        try:
            with pytest.raises(StoreError):
                database.send(runs)
        finally:
            site.hang(False)
    assert push(url, tmp_path / "db").sent == 1


def test_one_sender_at_a_time(site: Server, tmp_path: Path) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url)
    with locked(tmp_path / SEND_LOCK) as ours:
        assert ours
        assert push(url, spool).busy
        start_sending(spool, url)
        assert not (tmp_path / "push.log").exists()  # nothing was started
    assert waiting(spool) == 1
    assert not push(url, spool).busy


def test_a_run_that_ends_while_the_sender_is_at_work_is_sent_by_it(
    site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url)
    close = SiteDB.close

    def meanwhile(database: SiteDB) -> None:
        close(database)
        if not (tmp_path / "seen").exists():
            (tmp_path / "seen").touch()
            spooled(spool, url)  # all was sent, and the lock is still held
            assert push(url, spool).busy

    monkeypatch.setattr(SiteDB, "close", meanwhile)
    assert push(url, spool).sent == 2


def test_a_role_reads_what_the_setting_says_and_writes_for_itself_alone(
    site: Server, tmp_path: Path
) -> None:
    ann, bob = site.url("ann"), site.tcp_url("bob", "not-shown")
    spooled(tmp_path / "ann", ann, 2)
    spooled(tmp_path / "bob", bob, 1)
    push(ann, tmp_path / "ann")
    push(bob, tmp_path / "bob")

    def read_by(url: str) -> tuple[int, ...]:
        with SiteDB.open(url) as database:
            return tuple(database.counts().values())

    assert read_by(ann) == (1, 2, 4)  # program, run, observation
    assert read_by(bob) == (1, 1, 2)
    assert read_by(site.url()) == (2, 3, 6)  # the owner of the tables
    with SiteDB.open(site.url()) as owner:
        owner.init("observations")
        assert owner.readers == "observations"
    assert read_by(bob) == (1, 1, 6)
    with SiteDB.open(site.url()) as owner:
        owner.init("all")
        assert owner.readers == "all"
    assert read_by(bob) == (2, 3, 6)
    with SiteDB.open(site.url()) as owner:
        owner.init("own")
    assert read_by(bob) == (1, 1, 2)
    with psycopg.connect(bob, autocommit=True) as rows:
        for statement in (
            "UPDATE autofinity.run SET tier = 'x'",
            "DELETE FROM autofinity.run",
            "TRUNCATE autofinity.run",
            "CREATE POLICY mine ON autofinity.run USING (true)",
            "INSERT INTO autofinity.program VALUES ('ann', 'z', '', 0)",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                rows.execute(statement)  # type: ignore[arg-type]


def test_a_role_without_permission_cannot_make_the_tables(server: Server) -> None:
    with SiteDB.open(server.url("ann")) as database, pytest.raises(StoreError, match="permission"):
        database.init("own")


def test_a_database_without_tables_is_named_with_the_remedy(server: Server, tmp_path: Path) -> None:
    spooled(tmp_path / "db", server.url("ann"))
    with pytest.raises(StoreError, match=r"has no tables.*autofinity site --init"):
        push(server.url("ann"), tmp_path / "db")
    assert waiting(tmp_path / "db") == 1


def test_an_older_database_is_brought_up_to_date_and_a_newer_one_takes_older_writers(
    site: Server, tmp_path: Path
) -> None:
    spool, url = tmp_path / "db", site.url("ann")
    spooled(spool, url)
    with site.admin() as admin:
        admin.execute("UPDATE autofinity.schema_version SET version = version - 1")
        with pytest.raises(StoreError, match=f"schema {SCHEMA_VERSION - 1}, expected"):
            push(url, spool)
        admin.execute(f"UPDATE autofinity.schema_version SET version = {SCHEMA_VERSION + 1}")
        before = {table: tables_of()[table] for table in SITE_TABLES}
        more = (
            Column("later", "TEXT", True, "'{}'"),
            Column("notes_2", "TEXT", False, None),
            Column("speed", "REAL", True, "0"),
        )
        for statement in migration(before, before | {"run": (*before["run"], *more)}):
            admin.execute(statement)  # type: ignore[arg-type]
        assert push(url, spool).sent == 1
        assert admin.execute("SELECT later, notes_2, speed FROM autofinity.run").fetchall() == [
            ("{}", None, 0)
        ]
    with SiteDB.open(site.url()) as owner, pytest.raises(StoreError, match="update autofinity"):
        owner.init("own")


def test_a_commit_is_durable_whatever_the_server_says(site: Server) -> None:
    with site.admin() as admin:
        admin.execute("ALTER ROLE ann SET synchronous_commit = off")
    with SiteDB.open(site.url("ann")) as database:
        assert asked(database, "SHOW synchronous_commit") == "on"
    with site.admin() as admin:
        admin.execute("ALTER ROLE ann RESET synchronous_commit")


def test_a_database_in_another_encoding_is_refused(server: Server) -> None:
    with server.admin() as admin:
        admin.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        with (
            SiteDB.open(server.url(database="latin")) as database,
            pytest.raises(StoreError, match="LATIN1; expected UTF8"),
        ):
            database.init("own")
        admin.execute("DROP DATABASE latin")


def test_no_password_is_in_any_message(server: Server) -> None:
    for url in (
        server.tcp_url("bob", "secret-1"),
        server.tcp_url("bob", "secr@et-1"),
        server.tcp_url("bob", "secr/et-1"),
        "postgresql://bob:secret-1@127.0.0.1:none/runs",
        "postgresql://bob:secret-1@127.0.0.1/runs?secret-1=1",
    ):
        with pytest.raises(StoreError) as caught:
            SiteDB.open(url)
        assert "et-1@" not in str(caught.value) and "secret-1 " not in str(caught.value)
        assert "secr" not in str(caught.value).replace("?secret-1=1", "")


def test_a_password_comes_from_files_of_postgresql_too(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = f"postgresql://bob@127.0.0.1:{server.port}/postgres"
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    with pytest.raises(StoreError, match="no password supplied"):
        SiteDB.open(without)
    (tmp_path / "pass").write_text(f"127.0.0.1:{server.port}:postgres:bob:not-shown\n")
    (tmp_path / "pass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pass"))
    with SiteDB.open(without) as database:
        assert asked(database, "SELECT current_user") == "bob"
    (tmp_path / "services").write_text("[runs]\nhost=127.0.0.1\nuser=bob\npassword=not-shown\n")
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    with SiteDB.open(f"postgresql://:{server.port}/postgres?service=runs") as database:
        assert asked(database, "SELECT current_user") == "bob"


def test_observations_of_many_hosts_are_read_run_by_run(site: Server, tmp_path: Path) -> None:
    for host in ("a", "b"):
        spooled(tmp_path / host, site.url("ann"), 2)
        push(site.url("ann"), tmp_path / host)
    spooled(tmp_path / "c", site.url("ann"), 1, machine="another")
    push(site.url("ann"), tmp_path / "c")
    with site.admin() as admin:
        admin.execute(
            "UPDATE autofinity.observation SET affinity = 'none' WHERE id = 1 AND run_uuid = "
            "(SELECT min(uuid) FROM autofinity.run WHERE id = 1 AND machine <> 'another')"
        )
    with SiteDB.open(site.url("ann")) as database:
        rows, damaged = database.observations(MACHINE)
        machines = database.machines()
    assert len(rows) + len(damaged) == 8 and len(damaged) == 1
    assert {row.run for row in rows} == {1, 2, 3, 4}
    assert rows[0].sample == SAMPLE
    assert [(each.machine, each.runs, each.users, each.observations) for each in machines] == [
        (MACHINE, 4, 1, 8),
        ("another", 1, 1, 2),
    ]


def test_a_site_with_more_rows_than_are_read_at_once_is_an_error(
    site: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spooled(tmp_path / "db", site.url("ann"), 3)
    push(site.url("ann"), tmp_path / "db")
    monkeypatch.setattr("autofinity.store.site_db._MOST_BYTES", 500)
    with SiteDB.open(site.url("ann")) as database, pytest.raises(StoreError, match="more than"):
        database.observations(MACHINE)


def test_tables_that_several_make_at_once_are_made_once(server: Server) -> None:
    def make(_: int) -> int:
        with SiteDB.open(server.url()) as database:
            database.init("all")
            return database.version

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(make, range(8))) == {SCHEMA_VERSION}
    with server.admin() as admin:
        assert count(admin, "SELECT count(*) FROM autofinity.schema_version") == 1
        admin.execute("DROP SCHEMA autofinity CASCADE")


def test_without_the_driver_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spooled(tmp_path / "db", "postgresql://db/runs")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError, match=r"pip install 'autofinity\[site\]'"):
        push("postgresql://db/runs", tmp_path / "db")
    assert waiting(tmp_path / "db") == 1
    assert site_name("postgresql://db/runs") == "postgresql://db/runs"
