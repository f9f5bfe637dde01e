"""Comparisons: what is run, what is kept, and what is said of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import paper_runs
import pytest
from fake_machine import FakeMachine

from autofinity.evaluation.comparison import (
    Comparison,
    MechanismCase,
    as_simulated,
    compare,
    shown,
)
from autofinity.evaluation.comparison_summary import summarise
from autofinity.evaluation.under_mechanism import Conditions
from autofinity.mechanisms.recipe import WholeTrace
from autofinity.mechanisms.registry import pick
from autofinity.mechanisms.sharing_aware import nothing
from autofinity.model.errors import StoreError
from autofinity.model.mechanism_run import Ran, fastest
from autofinity.pool.local import LocalPool
from autofinity.ports import RunRequest
from autofinity.profiling.campaign import ReadyProgram
from autofinity.report.comparison_legend import legend
from autofinity.report.comparison_page import figure_plot
from autofinity.report.comparison_table import as_json, chart, notes, overhead_table, table
from autofinity.store.mechanism_runs import MechanismRuns, RunName

OVERHEAD_NS = {"fault": 60_000_000, "mapping": 20_000_000}
RUN = replace(paper_runs.RUN, thread_migrations=3, page_migrations=7, overhead_ns=OVERHEAD_NS)
ENTRIES = pick(["packed", "compact"])


def comparison(machine: FakeMachine, seeds: int = 2) -> Comparison:
    trace = WholeTrace(nothing(2), {1: (1, 1)})
    conditions = Conditions(machine, 1e9, None, lambda program: trace, 3, 60, 0.1)
    return Comparison(conditions, tuple(range(1, 1 + seeds)), lambda s: "x")


def programs(*names: str) -> list[ReadyProgram]:
    return [ReadyProgram(name, "tiny", 2, RunRequest(name, threads=2)) for name in names]


def case(program: str, mechanism: str, time_s: float, seed: int = 1) -> MechanismCase:
    return MechanismCase(program, mechanism, seed, replace(RUN, time_s=time_s))


def test_misses_and_overhead_are_shares_of_the_work() -> None:
    assert RUN.mpki == 5.0
    assert RUN.l2_mpki == 20.0
    assert RUN.tlb_miss_rate == pytest.approx(0.002)
    assert RUN.overhead == pytest.approx(0.08 / (4 * 2.0))


def test_every_mechanism_runs_on_every_program_with_every_seed(tmp_path: Path) -> None:
    machine = FakeMachine()
    runs = MechanismRuns(tmp_path / "work" / "runs.jsonl")
    seen: list[str] = []
    pool = LocalPool(2)
    cases = compare(comparison(machine), programs("a", "b"), ENTRIES, runs, pool, seen.append)
    made = {(c.program, c.mechanism, c.seed) for c in cases if c.run is not None}
    names = [entry.name for entry in ENTRIES]
    assert made == {(p, m, s) for p in "ab" for m in names for s in (1, 2)}
    assert len(seen) == len(made)
    count = len(machine.started)
    again = compare(comparison(machine), programs("a", "b"), ENTRIES, runs, pool)
    assert len(machine.started) == count
    assert sorted(map(str, again)) == sorted(map(str, cases))
    other = replace(comparison(machine), made_of=lambda program: "y")
    compare(other, programs("a"), ENTRIES, runs, pool)
    assert len(machine.started) == count + count // 2


def test_a_kept_run_is_made_again_where_more_seeds_change_what_it_stands_for(
    tmp_path: Path,
) -> None:
    """The system is slower with the second seed."""
    machine, runs = FakeMachine(), MechanismRuns(tmp_path / "runs.jsonl")
    compare(comparison(machine, seeds=1), programs("a"), ENTRIES, runs, LocalPool(1))
    (name, ran) = next((name, ran) for name, ran in runs.read().items() if name.mechanism == "os")
    slower = replace(ran.run, time_s=2 * ran.run.time_s)
    runs.write(replace(name, seed=2), Ran(slower, None))
    compare(comparison(machine, seeds=2), programs("a"), ENTRIES, runs, LocalPool(1))
    of_packed = [name for name in runs.read() if name.mechanism == "packed"]
    assert sorted(name.seed for name in of_packed) == [1, 1, 2]
    count = len(machine.started)
    compare(comparison(machine, seeds=1), programs("a"), ENTRIES, runs, LocalPool(1))
    assert len(machine.started) == count


def test_a_program_that_fails_is_left_out_and_the_others_are_not(tmp_path: Path) -> None:
    runs = MechanismRuns(tmp_path / "runs.jsonl")
    seen: list[str] = []
    cases = compare(
        comparison(FakeMachine(broken="a"), seeds=1),
        programs("a", "b"),
        ENTRIES,
        runs,
        LocalPool(1),
        seen.append,
    )
    assert [c.reason for c in cases if c.run is None] == ["deadlock"]
    assert {c.program for c in cases if c.run is not None} == {"b"}
    assert len(seen) == 2 * len(ENTRIES)


def test_an_interruption_keeps_what_was_finished(tmp_path: Path) -> None:
    runs = MechanismRuns(tmp_path / "runs.jsonl")
    with pytest.raises(KeyboardInterrupt):
        compare(
            comparison(FakeMachine(interrupt="b"), seeds=1),
            programs("a", "b"),
            ENTRIES,
            runs,
            LocalPool(1),
        )
    assert {name.program for name in runs.read()} == {"a"}


def test_runs_are_kept_line_by_line_and_a_torn_line_is_left_out(tmp_path: Path) -> None:
    runs = MechanismRuns(tmp_path / "runs.jsonl")
    name = RunName("a", "tiny", 4, "os", 1, "x")
    run = replace(RUN, cpus=[0, 6])
    alone, longer = Ran(run), Ran(run, replace(run, time_s=60.0))
    runs.write(name, alone)
    runs.write(replace(name, seed=2), longer)
    with (tmp_path / "runs.jsonl").open("a") as file:
        file.write('{"name": {"program": "a"')
    assert runs.read() == {name: alone, replace(name, seed=2): longer}
    with pytest.raises(StoreError, match="expected lines of JSON"):
        (tmp_path / "runs.jsonl").write_bytes(b"\xff\xfe\x00")
        runs.read()


def test_a_run_in_real_time_is_no_simulated_run_beside_the_others() -> None:
    minute = replace(RUN, time_s=60.0, energy_j=float("nan"))
    short = replace(case("a", "os", 0.1), minute=minute)
    real = replace(case("a", "autofinity", 60.0), minute=minute)
    failed = MechanismCase("a", "tlb", 1, None, "why")
    once = case("a", "packed", 0.1)
    assert as_simulated([short, real, failed, once]) == [short, failed, once]
    assert [each.run and each.run.time_s for each in shown([short, real])] == [60.0, 60.0]


def test_ratios_are_geometric_means_over_programs_of_means_over_seeds() -> None:
    cases = [
        *(case("a", "os", time, seed) for seed, time in enumerate((1.0, 3.0))),
        *(case("a", "packed", time, seed) for seed, time in enumerate((1.0, 1.0))),
        *(case("b", "os", 4.0, seed) for seed in (0, 1)),
        *(case("b", "packed", 8.0, seed) for seed in (0, 1)),
        *(case("c", name, 1.0) for name in ("os", "packed")),
        *(case(p, "oracle", 1.0) for p in "ab"),
    ]
    found = summarise(cases)
    time = found["packed"].vs_os["time"]
    assert time.value == pytest.approx((0.5 * 2.0 * 1.0) ** (1 / 3))
    assert time.low < time.value < time.high
    assert found["packed"].of_oracle.value == pytest.approx(math.sqrt(1.0 * 1 / 8))
    assert found["os"].vs_os["mpki"].value == 1
    assert found["packed"].programs == 3


@pytest.mark.parametrize(("programs", "known"), [("a", False), ("ab", False), ("abc", True)])
def test_fewer_than_three_programs_have_no_interval_and_the_reason_is_given(
    programs: str, known: bool
) -> None:
    cases = [
        case(program, name, time, seed)
        for program in programs
        for name, time in (("os", 2.0), ("packed", 1.0))
        for seed in (0, 1)
    ]
    summary = summarise(cases)
    packed = summary["packed"].vs_os["time"]
    assert packed.value == pytest.approx(0.5)
    assert math.isnan(packed.low) != known
    interval = list(table(summary, "").columns[2].cells)[1]
    assert interval == ("0.500-0.500" if known else "")
    reason = "no interval: fewer than 3 programs"
    plot = figure_plot(summary, "time")
    assert plot is not None
    for said in (" ".join(legend(summary)), plot.caption.lower()):
        assert (reason in said) != known


def test_runs_that_are_stood_for_are_summed_up_beside_those_that_were_simulated() -> None:
    cases = [
        replace(case("a", name, short_s), minute=replace(RUN, time_s=long_s))
        for name, short_s, long_s in (("os", 2.0, 60.0), ("kmaf16", 3.0, 54.0))
    ]
    cases += [case("a", "spcd", 1.0)]
    said = as_json(cases, summarise(shown(cases)))
    assert said["simulated"]["summary"]["kmaf16"]["time_vs_os"] == pytest.approx(1.5)
    assert said["summary"]["kmaf16"]["time_vs_os"] == pytest.approx(0.9)
    assert "spcd" not in said["summary"]


def test_failed_runs_stay_among_those_that_are_shown_at_either_length() -> None:
    failed = MechanismCase("b", "os", 1, None, "deadlock")
    simulated = case("a", "os", 2.0)
    in_minute = replace(simulated, minute=replace(RUN, time_s=60.0))
    assert shown([failed, simulated]) == [failed, simulated]
    assert [each.run and each.run.time_s for each in shown([failed, in_minute])] == [None, 60.0]


def test_of_several_recipes_the_fastest_counts_at_either_length() -> None:
    short, long = (replace(RUN, time_s=time_s) for time_s in (1.0, 50.0))
    slower = Ran(replace(short, time_s=2.0), long)
    assert fastest([Ran(short, replace(long, time_s=70.0)), slower]) == Ran(short, long)
    assert fastest([Ran(short), Ran(slower.run)]) == Ran(short)


def test_a_count_of_nothing_has_no_ratio() -> None:
    cases = [MechanismCase("a", name, 1, replace(RUN, invalidations=0)) for name in ("os", "tlb")]
    summary = summarise(cases)
    assert math.isnan(summary["tlb"].vs_os["invalidations"].value)
    said = as_json(cases, summary)
    assert said["summary"]["tlb"]["invalidations_vs_os"] is None


def test_small_overheads_of_a_minute_are_not_shown_as_none() -> None:
    minute = replace(RUN, time_s=60.0, overhead_ns={"fault": 2_400_000, "mapping": 2_000})
    shares = overhead_table(summarise([MechanismCase("a", "kmaf16", 1, minute)]))
    row = [next(iter(column.cells)) for column in shares.columns]
    assert row[:3] == ["kmaf16", "0.001", "<0.001"]  # of the time of 4 threads


def test_notes_of_deciders_are_printed_where_one_program_is_compared() -> None:
    noted = MechanismCase("a", "autofinity", 2, replace(RUN, notes=["0.20 s: sampled"]))
    assert notes([case("a", "os", 1.0)]) == []
    assert notes([case("a", "os", 1.0), noted]) == [
        "notes of autofinity, a, seed 2:",
        "  0.20 s: sampled",
    ]
    (line,) = notes([case("b", "os", 1.0), noted])
    assert "--json" in line
    assert as_json([noted], {})["cases"][0]["notes"] == ["0.20 s: sampled"]


def test_table_json_and_chart_say_the_same() -> None:
    cases = [case("a", "os", 2.0), case("a", "kmaf16", 1.5), case("a", "oracle", 1.0)]
    summary = summarise(cases)
    said = as_json([*cases, MechanismCase("b", "os", 1, None, "deadlock")], summary)
    assert said["summary"]["kmaf16"]["time_vs_os"] == pytest.approx(0.75)
    assert said["failed"] == [{"program": "b", "mechanism": "os", "seed": 1, "reason": "deadlock"}]
    assert chart(summary, "t").series["geometric mean"] == (1.0, 0.75, 0.5)
    assert table(summary, "t").row_count == 3
    assert summary["os"].overhead == pytest.approx({"fault": 0.0075, "mapping": 0.0025})
    assert [column.header for column in overhead_table(summary).columns] == [
        *("mechanism", "fault", "mapping", "accesses added, %")
    ]
