"""Programs run with the behaviour database of an earlier version as with one of this version."""

from __future__ import annotations

import pytest
from live_run import Runner
from older_databases import OLDER, in_old_columns, older_database, rows_of


@pytest.mark.parametrize("version", OLDER)
def test_a_run_keeps_what_an_older_database_has_and_adds_to_it(run: Runner, version: int) -> None:
    older_database(run.db, version)
    before = rows_of(run.db)
    done = run("--", "sh", "-c", "sleep 0.5; exit 3")
    assert done.returncode == 3
    assert b"database" not in done.stderr

    def runs() -> list[dict[str, object]]:
        return rows_of(run.db)["run"]

    assert run.eventually(lambda: len(runs()) == 3 and runs()[-1]["ended"])
    after = rows_of(run.db)
    for table in ("behaviour", "observation", "meta"):
        assert in_old_columns(after[table], before[table]) == before[table], table
    # The second run had no recorded end; its program is not of this boot.
    ended, open_run = before["run"]
    kept, closed, _ = after["run"]
    assert {name: kept[name] for name in ended} == ended
    assert {name for name in open_run if closed[name] != open_run[name]} == {
        "phase",
        "cpus",
        "ended",
    }
