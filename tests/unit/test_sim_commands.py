"""`autofinity machines` and `autofinity simulate`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sim_programs import region, streaming

from autofinity.cli.machines import command as machines
from autofinity.cli.simulate import command as simulate
from autofinity.model.errors import AutofinityError, UsageError


@pytest.fixture
def trace(tmp_path: Path) -> str:
    folder = tmp_path / "streams"
    folder.mkdir()
    streaming(2, pages_each=4, repeats=3).write(str(folder))
    return str(folder)


def test_machines_lists_the_presets() -> None:
    result = CliRunner().invoke(machines, ["--json"], catch_exceptions=False)
    listed = {machine["name"]: machine for machine in json.loads(result.stdout)["machines"]}
    assert listed["opteron-6164he"]["cores"] == 48
    assert "opteron-6164he" in CliRunner().invoke(machines, []).stdout


def test_simulate_prints_time_and_counters(trace: str) -> None:
    result = CliRunner().invoke(simulate, [trace, "--cpus", "0,6", "--json"])
    document = json.loads(result.stdout)
    assert document["cpus"] == [0, 6]
    assert document["roi_ns"] > 0
    assert document["totals"]["data_cache_accesses"] >= 2 * 3 * len(region(4))
    table = CliRunner().invoke(simulate, [trace, "--cpus", "0-1", "--all"])
    assert "region of interest" in table.stdout
    assert "invalid_data_cache_lines_evicted" in table.stdout


def test_simulate_places_by_hint_and_by_affinity(trace: str) -> None:
    def placed(*options: str) -> list[int]:
        result = CliRunner().invoke(
            simulate, [trace, "--threads", "2", "--json", *options], catch_exceptions=False
        )
        cpus = json.loads(result.stdout)["cpus"]
        assert isinstance(cpus, list)
        return cpus

    assert placed() == placed("--hint", "SLP")
    assert placed("--hint", "slp") == [0, 1]
    assert len({cpu // 6 for cpu in placed("--affinity", "{1,1}")}) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cpus", "0", "--hint", "SLP"], "more than one of"),
        (["--cpus", "0-"], "not a CPU list"),
        (["--threads", "2", "--affinity", "{3}"], "has 3 threads, the program 2"),
        (["--threads", "2", "--affinity", "3"], "not an affinity"),
        (["--cpus", "0,1", "--machine", "pdp-11"], "unknown machine"),
        (["--cpus", "0,1", "--threads", "1"], "got 2 CPUs for 1 threads"),
    ],
)
def test_simulate_refuses_what_does_not_fit(trace: str, options: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(simulate, [trace, *options], catch_exceptions=False)


def test_a_folder_without_a_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AutofinityError, match=r"no complete trace|index"):
        CliRunner().invoke(simulate, [str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("period", ["nan", "inf", "0", "many"])
def test_a_period_that_is_none_is_refused_before_anything_is_read(period: str) -> None:
    done = CliRunner().invoke(simulate, ["no such trace", "--period-us", period])
    assert done.exit_code == 2
    assert f"{period}: expected a number of microseconds" in done.output
