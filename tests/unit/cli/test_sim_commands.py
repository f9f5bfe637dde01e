"""`autofinity machines` and `autofinity simulate`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from memory_programs import owned_and_evicted
from sim_programs import kept, ping_pong, region, streaming

from autofinity.cli.machines import command as machines
from autofinity.cli.main import cli
from autofinity.cli.simulate import command as simulate
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.errors import AutofinityError, TraceError, UsageError
from autofinity.model.policy import RulePolicy, SecondLook, looked_at
from autofinity.policy.files import save
from autofinity.sim.events import OUTSIDE_LLC
from autofinity.sim.sources import MARKS


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


def test_machines_says_how_well_founded_each_is() -> None:
    result = CliRunner().invoke(machines, ["--json"], catch_exceptions=False)
    table = CliRunner().invoke(machines, ["--sources", "--markdown"]).stdout
    for machine in json.loads(result.stdout)["machines"]:
        counts = machine["values_by_mark"]
        assert set(counts) <= set(MARKS)
        numbers = [sum(counts.values()), *(counts.get(mark, 0) for mark in MARKS)]
        assert f"| `{machine['name']}` | {' | '.join(map(str, numbers))} |" in table


def test_a_hint_that_puts_threads_on_siblings_says_so(tmp_path: Path) -> None:
    streaming(2, pages_each=4, repeats=3).write(str(tmp_path))
    machine = "synthetic:pack:1 l3:1 core:2 pu:2"
    words = [str(tmp_path), "-m", machine, "-t", "2", "--latencies", "xeon-e5-2650"]
    packed = CliRunner().invoke(simulate, [*words, "--hint", "slP"], catch_exceptions=False)
    assert (
        "few-sockets-shared-caches (slP) puts 2 threads on 1 core, several to a core"
        in packed.stderr
    )
    for others in ((), ("--hint", "SLP")):
        spread = CliRunner().invoke(simulate, [*words, *others], catch_exceptions=False)
        assert "several to a core" not in spread.stderr


def test_simulate_prints_time_and_counters(trace: str) -> None:
    result = CliRunner().invoke(simulate, [trace, "--cpus", "0,6", "--json"])
    document = json.loads(result.stdout)
    assert document["cpus"] == [0, 6]
    assert document["roi_ns"] > 0
    assert document["totals"]["data_cache_accesses"] >= 2 * 3 * len(region(4))
    table = CliRunner().invoke(simulate, [trace, "--cpus", "0-1", "--all"])
    assert "region of interest" in table.stdout
    assert "per thread, 1 sample\n" in table.stdout
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


def test_a_policy_works_within_the_run_and_is_charged_for_it(trace: str, tmp_path: Path) -> None:
    again = RulePolicy(looked_at(("cycles",)), {}, (), SPREAD)
    policy = RulePolicy(("cycles",), {}, (), PACKED, second=SecondLook(PACKED, (PACKED,), again))
    save(policy, tmp_path / "policy.json")
    options = ("--threads", "2", "--period", "1us", "--policy", str(tmp_path / "policy.json"))
    said = together(trace, *options)
    assert said["hints"] == ["SLP", "slp", "SLP"]
    assert 0 < said["decided_at_s"] < said["roi_s"]
    unmoved = together(trace, "--threads", "2")
    assert said["roi_s"] > unmoved["roi_ns"] / 1e9, "two moves for nothing cost time"
    text = CliRunner().invoke(simulate, [trace, *options], catch_exceptions=False).stdout
    assert "spread (SLP) → packed (slp) → spread (SLP)" in text


def together(*options: str) -> dict[str, Any]:
    done = CliRunner().invoke(simulate, [*options, "--json"], catch_exceptions=False)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_several_traces_run_beside_or_after_each_other(trace: str) -> None:
    beside = together(trace, trace, "--threads", "2", "--start", "0,50us")
    assert len(set(beside["cpus"])) == 4
    first, second = beside["programs"]
    assert 40_000 < second["begin_ns"] <= 50_000  # since the region of the first
    after = together(trace, trace, "--threads", "2", "--after")
    first, second = after["programs"]
    assert second["begin_ns"] >= first["end_ns"]
    assert after["roi_ns"] == second["end_ns"]
    text = CliRunner().invoke(simulate, [trace, trace, "--threads", "2", "--restart"])
    assert "2 programs on opteron-6164he" in text.stdout


def test_the_operating_system_may_place_the_threads(trace: str) -> None:
    free = together(trace, "--threads", "2", "--placement", "os", "--seed", "3")
    assert free == together(trace, "--threads", "2", "--placement", "os", "--seed", "3")
    assert len(set(free["cpus"])) == 2
    within = together(trace, "--threads", "2", "--placement", "os", "--cpus", "5,17")
    assert set(within["cpus"]) <= {5, 17}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--start", "0,5ms"], "are for several programs; got one"),
        (["--placement", "os", "--hint", "SLP"], "--placement os takes no --hint"),
        (["--placement", "os", "--affinity", "{2}"], "take no --pages and no --affinity"),
        (["--policy", "opteron-6164he", "--hint", "SLP"], "--policy places one program"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    trace: str, options: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(simulate, [trace, *options], catch_exceptions=False)


@pytest.mark.parametrize(
    ("start", "message"),
    [("0", "got 1 starts for 2 programs"), ("0,soon", "not a list of durations"), ("0,-1", "not")],
)
def test_starts_that_are_none_are_refused(trace: str, start: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(
            simulate, [trace, trace, "--threads", "2", "--start", start], catch_exceptions=False
        )


def test_a_folder_without_a_trace_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AutofinityError, match=r"no complete trace|index"):
        CliRunner().invoke(simulate, [str(tmp_path)], catch_exceptions=False)


@pytest.mark.parametrize("command", ["simulate", "advise", "detect"])
def test_a_folder_of_traces_is_an_error_that_names_them(tmp_path: Path, command: str) -> None:
    for name in "bdcaegf":
        kept(ping_pong(2, rounds=4), tmp_path / name)
    with pytest.raises(TraceError) as error:
        CliRunner().invoke(cli, [command, str(tmp_path)], catch_exceptions=False)
    assert str(error.value) == (
        f"{tmp_path} is no trace, but holds the traces a, b, c, d, e and 2 more; expected a trace, "
        f"such as {tmp_path}/a"
    )


@pytest.mark.parametrize("period", ["nan", "infs", "0s", "500", "many"])
def test_a_period_that_is_none_is_refused_before_anything_is_read(period: str) -> None:
    done = CliRunner().invoke(simulate, ["no such trace", "--period", period])
    assert done.exit_code == 2
    assert f"{period}: expected a length such as 500us" in done.output


@pytest.mark.parametrize(("hint", "elsewhere"), [("packed", False), ("spread", True)])
def test_lines_of_llc_misses_come_from_beside_or_from_outside(
    hint: str, elsewhere: bool, tmp_path: Path
) -> None:
    folder = kept(ping_pong(4, rounds=400), tmp_path / "shared")
    words = [folder, "-t", "4", "-m", "opteron-6164he", "--hint", hint]
    done = CliRunner().invoke(simulate, [*words, "--json"])
    totals = json.loads(done.stdout)["totals"]
    beside = totals["cache_to_cache_transfers_same_llc"]
    outside = sum(totals[event] for event in OUTSIDE_LLC)
    assert totals["llc_misses"] == beside + outside > 400
    assert (outside > beside) == elsewhere
    text = CliRunner().invoke(simulate, words).stdout
    assert f"{beside:,} came from other cores of the same LLC, {outside:,} from outside" in text
    both = CliRunner().invoke(simulate, [folder, folder, "-m", "opteron-6164he", "-t", "4"]).stdout
    assert "lines from outside its LLCs" in both


def test_lines_that_the_llc_has_come_from_it_though_a_core_owns_them(tmp_path: Path) -> None:
    folder = kept(owned_and_evicted(), tmp_path / "owned")
    words = [folder, "-t", "2", "-m", "opteron-6164he", "--hint", "packed"]
    totals = json.loads(CliRunner().invoke(simulate, [*words, "--json"]).stdout)["totals"]
    lines = totals["cache_to_cache_transfers_same_llc"]
    lines += sum(totals[event] for event in OUTSIDE_LLC)
    assert lines == totals["llc_misses"]
    assert totals["llc_hits"] > 0


def test_an_llc_is_looked_up_for_l2_misses_prefetches_and_page_walks(tmp_path: Path) -> None:
    folder = kept(owned_and_evicted(), tmp_path / "owned")
    words = [folder, "-t", "2", "-m", "opteron-6164he", "--hint", "packed"]
    totals = json.loads(CliRunner().invoke(simulate, [*words, "--json"]).stdout)["totals"]
    prefetches, walks = totals["prefetches_issued"], totals["page_walk_misses"]
    looked_up = totals["l2_misses"] + prefetches + walks
    assert totals["llc_hits"] + totals["llc_misses"] == looked_up
    text = CliRunner().invoke(simulate, words).stdout
    assert totals["llc_misses"] > totals["l2_misses"] > 0
    assert f"looked up for {prefetches:,} prefetches and {walks:,} page walks" in text


def test_an_inclusive_llc_misses_only_lines_from_outside(tmp_path: Path) -> None:
    folder = kept(ping_pong(4, rounds=400), tmp_path / "shared")
    words = [folder, "-t", "4", "-m", "xeon-x7550", "--hint", "packed"]
    totals = json.loads(CliRunner().invoke(simulate, [*words, "--json"]).stdout)["totals"]
    assert totals["cache_to_cache_transfers_same_llc"] > 400
    assert totals["llc_misses"] == sum(totals[event] for event in OUTSIDE_LLC)
    assert "came from other cores" not in CliRunner().invoke(simulate, words).stdout
