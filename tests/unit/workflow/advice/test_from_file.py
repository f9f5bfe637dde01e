"""A program that others measured is decided on as a live sample is, by nothing but the file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from measurement_files import (
    FILES,
    FOLDER,
    MACHINE,
    OWN_CPUS,
    PER_SECOND,
    POLICY,
    THREADS,
    TIMED,
)

from autofinity.linux.event_names import EventNames
from autofinity.linux.event_tables import event_table
from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.cpu import Cpu
from autofinity.model.errors import TopologyError, UsageError
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.ratios import OTHER_LLC, Ratio
from autofinity.policy.selector import decide
from autofinity.workflow.advice.advice import advice_on
from autofinity.workflow.advice.from_file import Place, place_named, seen_in_file
from autofinity.workflow.advice.memory_reads import OF_MEMORY
from autofinity.workflow.advice.seen import Section, Seen

TWO_NODES = "synthetic:pack:2 numa:1 l3:1 core:4 pu:1"


@pytest.fixture(scope="module")
def place() -> Place:
    return place_named(MACHINE)


def seen(
    path: Path | str, place: Place, asked: RulePolicy | None, threads: int | None = THREADS
) -> Seen:
    at = FOLDER / path if isinstance(path, str) else path
    return seen_in_file(at, place, asked, "the one of this test", threads)


def section(of: Seen, question: str) -> Section:
    return next(each for each in advice_on(of) if each.question == question)


def of_rates(limit: float) -> RulePolicy:
    rule = Rule((Condition("llc_misses", limit, float("inf")),), SPREAD)
    return RulePolicy(("llc_misses",), {"llc_misses": (limit,)}, (rule,), PACKED)


@pytest.mark.parametrize("name", FILES)
def test_every_format_decides_as_the_same_sample_does(place: Place, name: str) -> None:
    found = seen(name, place, POLICY)
    same = decide(POLICY, PER_SECOND)
    assert found.state.decision is not None
    assert (found.state.decision.hint, found.state.decision.rule) == (same.hint, same.rule)
    assert found.state.decision.margin == pytest.approx(same.margin)
    assert found.undecided == ""
    assert section(found, "placement").facts["hint"] == "slP"


@pytest.mark.parametrize("name", TIMED)
def test_what_says_in_what_time_it_counted_tells_rates_of_a_thread(place: Place, name: str) -> None:
    found = seen(name, place, POLICY)
    told = {counter: found.rate(counter) for counter in PER_SECOND}
    assert told == pytest.approx(PER_SECOND)
    rates = of_rates(2.9e6)
    assert seen(name, place, rates).state.decision == decide(rates, PER_SECOND)


@pytest.mark.parametrize("name", ["perf-stat-3.13.csv", "perf-script-6.6.txt", "perf-c2c-6.6.txt"])
def test_what_does_not_say_so_decides_nothing_by_rates(place: Place, name: str) -> None:
    found = seen(name, place, of_rates(1.0))
    assert found.state.decision is None
    assert "rules ask how often a second (llc_misses), and" in found.undecided
    assert found.rate("llc_misses") is None
    assert section(found, "threads").facts["read_gbs"] is None


def test_how_many_threads_there_are_is_the_files_word_or_the_users(place: Place) -> None:
    assert seen("own.csv", place, POLICY, None).threads == THREADS
    assert seen("likwid-5.3.csv", place, POLICY, None).cpus == OWN_CPUS
    assert seen("perf-stat-6.1-per-thread.json", place, POLICY, None).threads == THREADS
    assert seen("own.csv", place, POLICY, 2).cpus == (), "of which two, nobody says"
    with pytest.raises(UsageError, match=r"does not say of how many threads.*--threads COUNT"):
        seen("perf-stat-6.1.json", place, POLICY, None)


def test_cpus_that_the_machine_has_not_are_not_where_threads_were(place: Place) -> None:
    small = place_named(TWO_NODES)
    assert seen("own.csv", small, POLICY, None).cpus == ()
    assert seen("own.csv", place, POLICY, None).cpus == OWN_CPUS


def test_a_file_decides_nothing_about_what_it_cannot_show(place: Place) -> None:
    found = seen("perf-stat-6.1.json", place, POLICY)
    memory = section(found, "memory policy")
    assert memory.advice.endswith("a file does not say on which nodes pages are")
    assert memory.facts["bytes_on_node"] is None
    assert section(found, "NUMA balancing").facts["wanted"] is None
    assert "a file does not say" in section(found, "NUMA balancing").evidence[0]
    assert "the file does not say" in section(found, "SMT").evidence[1]
    assert section(found, "threads").facts["enough_threads"] is None


def test_sampled_accesses_show_pages_by_node_and_the_share_of_remote_reads() -> None:
    place = place_named(TWO_NODES)  # CPUs 0 to 3 are on node 0
    found = seen("perf-script-6.6.txt", place, POLICY)
    assert found.touched is not None
    assert sum(map(sum, found.touched.pages.values())) == 55
    memory = section(found, "memory policy")
    assert memory.facts["remote_share"] == pytest.approx(8 / 24)
    assert memory.facts["remote_share_by"] == "sampled reads"
    lines = section(found, "placement").evidence
    assert any(line.startswith("from node 0: loads that the own LLC missed") for line in lines)
    assert any(line.startswith("from node 1: ") for line in lines)
    assert any(line.startswith("thread 4711: ") for line in lines)


def test_what_rules_ask_for_and_the_file_lacks_is_said_with_the_command_for_it(
    tmp_path: Path, place: Place
) -> None:
    path = tmp_path / "stat.csv"
    path.write_text(
        "36000000,,longest_lat_cache.reference,8000000000,100.00,,\n9,,faults,9,100.00\n"
    )
    found = seen(path, place, POLICY)
    assert found.state.decision is None
    assert found.undecided.startswith(
        f"no rule can be asked: stat.csv lacks {OTHER_LLC}, which the rules ask for"
    )
    assert found.given is not None
    assert found.given.lacking == (OTHER_LLC,)
    assert found.given.measure == (
        "perf stat -j -o FILE -e r4d3:u,r8d3:u,cache-references:u,cache-misses:u,"
        "r1d3:u,r2d3:u -- PROGRAM"
    )
    assert found.undecided.endswith(f"measure with `{found.given.measure}`")
    assert found.not_measured[1] == "not used: faults"


def test_the_command_counts_what_a_look_at_a_live_program_counts(tmp_path: Path) -> None:
    epyc = place_named("epyc-9654")
    path = tmp_path / "stat.csv"
    path.write_text("9000000000,,ex_ret_instr,8000000000,100.00,,\n")
    given = seen(path, epyc, POLICY).given
    assert given is not None
    names = EventNames(epyc.cpu)
    for counter in OF_MEMORY:
        assert counter in event_table(epyc.cpu)
        assert set(names.spelling(counter)) <= set(re.split("[ ,]", given.measure))


def test_what_the_cpu_cannot_count_is_said_to_be_so(tmp_path: Path) -> None:
    altra = place_named("ampere-altra")
    assert OTHER_LLC not in event_table(altra.cpu)
    path = tmp_path / "stat.csv"
    path.write_text("36000000,,ll_cache_rd,8000000000,100.00,,\n")
    found = seen(path, altra, POLICY)
    assert found.given is not None
    assert found.given.measure == ""
    assert found.not_measured[0].endswith("the file has no event for it, nor has this CPU")


def test_what_a_missing_counter_decides_is_not_decided(place: Place) -> None:
    share = Ratio("llc_miss_share", ("llc_misses",), ("llc_requests",))
    walks = Rule((Condition("page_walks", 1.0, float("inf")),), PACKED)
    misses = Rule((Condition("llc_miss_share", 0.5, float("inf")),), SPREAD)
    names = ("page_walks", "llc_misses", "llc_requests")
    asked = RulePolicy(names, {}, (walks, misses), PACKED, ratios=(share,))
    found = seen("own.json", place, asked)
    assert found.state.decision is None
    assert found.undecided.startswith(
        "own.json lacks page_walks, which the rules ask for; the answer may be packed (slp) or "
        "spread (SLP)"
    )
    placed, gain = section(found, "placement"), section(found, "expected gain")
    assert placed.facts["hint"] is None and "hint_name" not in placed.facts
    assert gain.advice == "not known" and gain.facts["gain"] is None


def test_a_missing_counter_decides_nothing_where_the_others_do(place: Place) -> None:
    misses = Rule((Condition("llc_misses", 1.0, float("inf")),), SPREAD)
    walks = Rule((Condition("page_walks", 1.0, float("inf")),), PACKED)
    for rules, said in (((misses, walks), ""), ((replace(walks, hint=SPREAD), misses), "why")):
        asked = RulePolicy(("page_walks", "llc_misses"), {}, rules, PACKED)
        found = seen("own.json", place, asked)
        known = {"llc_misses": PER_SECOND["llc_misses"]}
        assert found.state.decision == decide(asked, known)
        assert found.given is not None
        assert found.given.lacking == ("page_walks",)
        line = "not measured: page_walks; the hint does not depend on that"
        assert line in section(found, "placement").evidence
        rule = "page_walks was not measured, so which rule decides is not known"
        assert (section(found, "expected gain").evidence[0] == rule) == bool(said)


def test_a_policy_that_asks_nothing_has_its_answer_and_no_policy_none(place: Place) -> None:
    found = seen("own.json", place, RulePolicy((), {}, (), PACKED))
    assert section(found, "placement").facts["hint"] == "slp"
    none = seen("own.json", place, None)
    assert section(none, "placement").facts["hint"] is None
    assert "no policy" in section(none, "placement").evidence[0]


def test_cores_of_two_kinds_are_counted_by_the_time_on_each(tmp_path: Path) -> None:
    path = tmp_path / "stat.csv"
    path.write_text(
        "8000,,cpu_core/cycles/,6000000000,75.00,,\n"  # as if it had run there all the time
        "4000,,cpu_atom/cycles/,2000000000,25.00,,\n"
    )
    found = seen(path, place_named("i9-13900k"), None)
    assert found.rate("cycles") == pytest.approx((8000 * 0.75 + 4000 * 0.25) / 8)


def test_of_an_event_that_is_there_twice_one_counts(tmp_path: Path, place: Place) -> None:
    path = tmp_path / "stat.csv"
    path.write_text("80,,cycles:u,8000000000,100.00\n84,,cpu-cycles,8000000000,100.00\n")
    found = seen(path, place, None)
    assert found.rate("cycles") == 10.0
    assert found.given is not None
    assert found.given.unused == ("cpu-cycles",)


def test_this_machine_is_the_one_at_hand() -> None:
    here = place_named("host")
    assert here.numa_balancing is not None
    assert here.topology.allowed <= frozenset(here.topology.by_os_index)


def test_of_a_topology_alone_nobody_knows_the_cpu_nor_its_speeds() -> None:
    bare = place_named(TWO_NODES)
    assert bare.cpu == Cpu("", 0, 0)
    assert bare.speeds.node_gbs != bare.speeds.node_gbs
    with pytest.raises((UsageError, TopologyError), match="unknown machine"):
        place_named("nowhere")


def test_saturated_memory_is_not_told_without_pages(place: Place) -> None:
    found = replace(seen("own.json", place, POLICY), threads=THREADS)
    assert section(found, "threads").facts["enough_threads"] is None
    assert "read" in section(found, "threads").evidence[0]
