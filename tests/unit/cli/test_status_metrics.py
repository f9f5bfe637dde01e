"""`status --metrics FILE`: valid by both grammars, whole or not at all, and without names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from own_database import by_hand, filled
from prometheus_client.openmetrics import parser as open_metrics
from prometheus_client.parser import text_string_to_metric_families
from site_rows import spooled

from autofinity.cli.main import cli
from autofinity.model.errors import UsageError
from autofinity.report.open_metrics import Gauge, Sample, open_metrics_text

type Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def write(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, ["status", *map(str, words)])


def read(text: str) -> Values:
    """Values by name and labels (without the user's): as both parsers read them."""
    both = []
    for parse in (open_metrics.text_string_to_metric_families, text_string_to_metric_families):
        found: Values = {}
        for family in parse(text):
            assert family.type == "gauge"
            assert family.documentation
            for sample in family.samples:
                labels = dict(sample.labels)
                assert labels.pop("uid") == str(os.getuid())
                assert sample.timestamp is None  # the collector refuses them
                found[sample.name, tuple(sorted(labels.items()))] = sample.value
        both.append(found)
    assert both[0] == both[1]
    return both[0]


def test_the_file_counts_what_the_database_holds(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    done = write("--db", tmp_path / "db", "--metrics", tmp_path / "a.prom")
    assert (done.exit_code, done.output) == (0, "")
    found = read((tmp_path / "a.prom").read_text())
    assert found["autofinity_programs", ()] == 1
    assert found["autofinity_runs", (("tier", "software events"),)] == 1
    assert found["autofinity_runs", (("tier", "hardware counters"),)] == 0
    assert found["autofinity_bound_runs", ()] == 1
    assert found["autofinity_program_hints", (("hint", "slp"),)] == 1
    assert found["autofinity_observations", (("tier", "other"),)] == 1
    assert found["autofinity_live_runs", (("phase", "starting"),)] == 1
    assert found["autofinity_live_runs_without_monitor", ()] == 1
    assert found["autofinity_claimed_cpus", ()] == len(os.sched_getaffinity(0))
    assert found["autofinity_latest_run_start_timestamp_seconds", ()] > 1.7e9


def test_units_are_said_and_names_end_with_them(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    write("--db", tmp_path / "db", "--metrics", tmp_path / "a.prom")
    families = open_metrics.text_string_to_metric_families((tmp_path / "a.prom").read_text())
    units = {family.name: family.unit for family in families if family.unit}
    assert units == {
        "autofinity_latest_run_start_timestamp_seconds": "seconds",
        "autofinity_claimed_cpus": "cpus",
    }


def test_no_name_of_a_program_is_in_the_file_and_no_row_makes_a_time_series(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    few = tmp_path / "few.prom"
    write("--db", tmp_path / "db", "--metrics", few)
    with by_hand(tmp_path / "db") as rows:
        rows.execute("UPDATE run SET phase = 'secret', tier = 'secret'")
        rows.execute("UPDATE observation SET tier = 'secret'")
        rows.execute("UPDATE behaviour SET hint = 'secret'")
    many = tmp_path / "many.prom"
    write("--db", tmp_path / "db", "--metrics", many)
    text = many.read_text()
    assert "/bin/k" not in text and "secret" not in text
    assert read(text).keys() == read(few.read_text()).keys()
    assert read(text)["autofinity_live_runs", (("phase", "other"),)] == 1


def test_runs_that_wait_for_a_site_are_counted_and_shown(tmp_path: Path) -> None:
    spooled(tmp_path / "db", "postgresql://me:secret@db/runs", 3)
    spooled(tmp_path / "db", "postgresql://me@db/runs", 1, ended=False)
    write("--db", tmp_path / "db", "--metrics", tmp_path / "a.prom")
    assert read((tmp_path / "a.prom").read_text())["autofinity_waiting_runs", ()] == 3
    said = write("--db", tmp_path / "db").output
    assert "3 finished runs wait to be sent to postgresql://me@db/runs: `autofinity push`" in said
    document = json.loads(write("--db", tmp_path / "db", "--json").output)
    assert document["waiting"] == {"postgresql://me@db/runs": 3}


def test_a_start_that_no_calendar_has_is_left_out(tmp_path: Path) -> None:
    filled(tmp_path / "db", os.getpid())
    with by_hand(tmp_path / "db") as rows:
        rows.execute("UPDATE run SET started = 9e999")
    write("--db", tmp_path / "db", "--metrics", tmp_path / "a.prom")
    found = read((tmp_path / "a.prom").read_text())
    assert ("autofinity_latest_run_start_timestamp_seconds", ()) not in found
    assert found["autofinity_damaged_rows", ()] == 1


def test_before_the_first_run_all_counts_are_zero(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "none"))
    assert write("--metrics", tmp_path / "a.prom").exit_code == 0
    found = read((tmp_path / "a.prom").read_text())
    del found[next(key for key in found if key[0] == "autofinity_build")]
    assert set(found.values()) == {0}
    assert not (tmp_path / "none").exists()


def test_a_database_that_cannot_be_read_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "a.prom").write_text("old")
    (tmp_path / "db").write_bytes(b"no database" * 100)
    (tmp_path / "db").chmod(0o600)
    assert write("--db", tmp_path / "db", "--metrics", tmp_path / "a.prom").exit_code == 1
    assert (tmp_path / "a.prom").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.prom", "db"]


def test_the_file_is_replaced_and_never_written_into(tmp_path: Path) -> None:
    target = tmp_path / "a.prom"
    target.write_text("old")
    with target.open() as before:
        filled(tmp_path / "db", os.getpid())
        write("--db", tmp_path / "db", "--metrics", target)
        assert before.read() == "old"
    assert target.read_text().endswith("# EOF\n")
    assert [path.name for path in tmp_path.glob("*.prom*")] == ["a.prom"]


def test_json_and_metrics_are_not_one_output(tmp_path: Path) -> None:
    done = write("--json", "--metrics", tmp_path / "a.prom")
    assert isinstance(done.exception, UsageError)
    assert not (tmp_path / "a.prom").exists()


def test_labels_and_help_of_any_text_are_read_back_as_they_were() -> None:
    odd = 'a "quoted" \\ name\nof two lines'
    text = open_metrics_text([Gauge("a", "some help", [Sample(1, {"uid": odd})])])
    (family,) = open_metrics.text_string_to_metric_families(text)
    assert family.samples[0].labels == {"uid": odd}
    with pytest.raises(ValueError, match="expected the end of a"):
        open_metrics_text([Gauge("a", "help", [], "seconds")])


@pytest.mark.parametrize("target", [".", "none/file"])
def test_a_file_that_cannot_be_written_is_refused_before_the_database_is_read(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "db").write_text("no database")
    done = write("--db", tmp_path / "db", "--metrics", tmp_path / target)
    assert done.exit_code == 2
    assert "Invalid value for '--metrics'" in done.output
