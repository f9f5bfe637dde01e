"""When there is nothing to relearn a policy from."""

from __future__ import annotations

from pathlib import Path

import pytest

from autofinity.model.errors import LearningError, StoreError
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.workflow.rebuild import NotRebuilt, rebuild
from autofinity.workflow.run_records import database_named, status


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "behaviour.db"
    with BehaviourDB.open(path):
        return path


def test_without_a_database_a_rebuild_that_may_wait_does_nothing(tmp_path: Path) -> None:
    missing, output = tmp_path / "none.db", tmp_path / "policy.json"
    assert isinstance(rebuild(database=missing, output=output, if_due=True), NotRebuilt)
    with pytest.raises(LearningError, match="nothing has been run yet"):
        rebuild(database=missing, output=output)
    with pytest.raises(StoreError, match="`autofinity run -- PROGRAM` makes it"):
        database_named(missing)


def test_a_rebuild_that_is_not_due_writes_nothing(database: Path, tmp_path: Path) -> None:
    output = tmp_path / "policy.json"
    made = rebuild(database=database, output=output, if_due=True)
    assert made == NotRebuilt("not due: too few new rows to learn from")
    with pytest.raises(LearningError, match="nothing can be learned from the runs so far"):
        rebuild(database=database, output=output)
    assert not output.exists()


def test_status_of_a_new_database_is_empty(database: Path) -> None:
    found = status(database, 10)
    assert (found.known, found.live, found.runs, found.rebuild_due) == ((), (), (), False)
    database.with_name("monitor.log").write_text("".join(f"{line}\n" for line in range(9)))
    assert status(database, 10).lost == ("4", "5", "6", "7", "8")
