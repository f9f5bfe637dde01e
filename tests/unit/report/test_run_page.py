"""A run on record, on a page."""

from __future__ import annotations

import plotly.graph_objects as go
from made_up_machine import machine
from run_record import run_record

from autofinity.model.affinity import UNPLACED, Affinity
from autofinity.model.timeline import TimelineStep
from autofinity.report.page import Drawing, Facts, Folded, Plot, Section, Sentences, Table
from autofinity.report.run_page import (
    measured_section,
    over_time_section,
    place_section,
    run_facts,
)
from autofinity.runtime.threads_now import Author, ThreadNow
from autofinity.store.behaviour_rows import LiveObservation

HERE = machine(cores=4)


def thread(tid: int, cpus: str, author: Author) -> ThreadNow:
    return ThreadNow(tid, 7, f"worker-{tid}", 1, cpus, author)


def observed(affinity: Affinity, **rates: float) -> LiveObservation:
    return LiveObservation(1, "k", 2, affinity, "m", rates, "hardware counters")


def only[T](kind: type[T], section: Section | None) -> T:
    assert section is not None
    (found,) = (block for block in section.blocks if isinstance(block, kind))
    return found


def test_threads_of_a_running_program_are_on_the_cpus_of_their_masks() -> None:
    threads = (thread(7, "0-3", "nobody"), thread(8, "1", "autofinity"), thread(9, "2", "others"))
    section = place_section(run_record(), threads, HERE)
    svg = only(Drawing, section).svg
    assert svg.count("; thread") == 2, "the first has the mask that the program began with"
    for said in ("CPU 1: core 1, LLC 0, node 0, socket 0; thread 0", "; thread 1</title>"):
        assert said in svg
    assert svg.count('class="pu given"') == 2 + 1  # claimed, and in the legend
    (table,) = only(Folded, section).blocks
    assert isinstance(table, Table)
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["–", "7", "worker-7", "0-3", "as at the start"],
        ["0", "8", "worker-8", "1", "autofinity"],
        ["1", "9", "worker-9", "2", "others"],
    ]


def test_an_ended_run_shows_the_cpus_that_it_was_given() -> None:
    section = place_section(run_record(), (), HERE)
    assert section is not None and section.title == "Where the threads were"
    assert "has ended" in only(Drawing, section).caption


def test_a_run_of_another_machine_has_no_picture() -> None:
    assert "does not have" in str(
        only(Sentences, place_section(run_record(cpus="64"), (), HERE)).lines
    )
    assert place_section(run_record(cpus=""), (), HERE) is None
    assert place_section(run_record(cpus="no list"), (), HERE) is None
    assert place_section(run_record(), (), None) is None


def test_rates_are_compared_with_those_of_the_first_look() -> None:
    looks = (
        observed(UNPLACED, instructions=4.0, llc_misses=8.0),
        observed(Affinity.of([[2]]), instructions=5.0, llc_misses=2.0),
    )
    section = measured_section(run_record(), looks)
    plot = only(Plot, section)
    go.Figure(plot.figure)
    (trace,) = plot.figure["data"]
    assert dict(zip(trace["x"], trace["y"], strict=True)) == {
        "instructions": 1.25,
        "llc_misses": 0.25,
    }
    table = only(Table, section)
    assert table.headings == ("counter", "1. where the system put them", "2. as {2}")


def test_samples_that_are_no_observation_are_shown_too_and_each_once() -> None:
    sample, probe = {"instructions": 4.0}, {"instructions": 6.0}
    alone = only(Table, measured_section(run_record(sample=sample, probe=probe), ()))
    assert alone.headings == ("counter", "when it was decided", "in the second look")
    seen = (observed(UNPLACED, **sample), observed(Affinity.of([[2]]), **probe))
    both = only(Table, measured_section(run_record(sample=sample, probe=probe), seen))
    assert len(both.headings) == 3


def test_a_run_without_measurement_says_so() -> None:
    lines = [b.lines for b in measured_section(run_record(), ()).blocks if isinstance(b, Sentences)]
    assert lines[0] == ("Nothing was measured in this run.",)


def test_facts_of_a_run_have_units() -> None:
    facts = run_facts(run_record(), alive=False)
    assert isinstance(facts, Facts)
    assert dict(facts.pairs)["lasted"] == "30 s"
    assert dict(run_facts(run_record(ended=None), alive=False).pairs)["lasted"] == "not known"
    assert dict(run_facts(run_record(ended=None), alive=True).pairs)["lasted"].endswith(" s so far")


def test_threads_that_compute_are_plotted_over_time_with_a_line_where_they_were_placed() -> None:
    def look(start_ns: int, place: str) -> TimelineStep:
        counts = {0: 1e6, 1: 5e8, 2: 9e8}  # thread 0 only joins
        return TimelineStep(
            start_ns,
            start_ns + 10**9,
            {number: {"task_clock_ns": spent} for number, spent in counts.items()},
            place=place,
        )

    looks = [look(0, ""), look(10**9, ""), look(2 * 10**9, "{2}")]
    section = over_time_section(looks, alive=False)
    plot = only(Plot, section)
    assert [trace["name"] for trace in plot.figure["data"]] == ["thread 1", "thread 2"]
    assert plot.figure["data"][0]["y"] == [50.0, 50.0, 50.0]
    (line,) = plot.figure["layout"]["shapes"]
    assert line["x0"] == line["x1"] == 2.0
    go.Figure(plot.figure)
    said = " ".join(only(Sentences, section).lines)
    assert "one after the other: where the system put them, then {2}." in said
    assert "Not measured: Instructions" in said
    assert "still runs" not in said
    running = " ".join(only(Sentences, over_time_section(looks, alive=True)).lines)
    assert "on record up to 3 s after the first look began" in running


def test_a_run_without_looks_on_record_says_which_runs_have_them() -> None:
    assert "of the latest 100 runs" in only(Sentences, over_time_section((), alive=False)).lines[0]
