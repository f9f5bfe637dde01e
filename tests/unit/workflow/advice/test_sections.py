"""Each question of the advice, by what was seen."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from advised import MIB, ONE_NODE, TWO_NODES, sampled, seen
from made_up_machine import machine

from autofinity.model.affinity import PACKED, SPREAD
from autofinity.model.memory import MemoryByNode
from autofinity.model.policy import RulePolicy, SecondLook, looked_at
from autofinity.model.sharing import NumaVectors
from autofinity.model.timeline import TimelineStep
from autofinity.model.topology import Cache, OsIndex
from autofinity.runtime.evidence import ONE_LLC
from autofinity.runtime.samples import Samples
from autofinity.workflow.advice.advice import advice_on
from autofinity.workflow.advice.balancing import numa_balancing
from autofinity.workflow.advice.memory import Use, memory_policy, use_of
from autofinity.workflow.advice.placement import chosen_of, placement
from autofinity.workflow.advice.seen import Section, Seen
from autofinity.workflow.advice.smt import smt
from autofinity.workflow.advice.threads import thread_count

ONE_NODES_PAGES = MemoryByNode((120 * MIB, 8 * MIB))


def memory(one: Seen) -> Section:
    return memory_policy(one, chosen_of(one), use_of(one))


def touched(*pages: tuple[int, tuple[int, ...]]) -> NumaVectors:
    """Each with the node it is on, and how often each node touched it."""
    return NumaVectors(
        {number: counts for number, (_, counts) in enumerate(pages)},
        nodes={number: node for number, (node, _) in enumerate(pages)},
    )


def test_a_decided_program_is_told_its_cores_and_how_to_start_there() -> None:
    one = seen(**sampled(PACKED, instructions=1e9))
    found = placement(one, chosen_of(one))
    assert found.advice.startswith("packed (slp): ")
    assert found.advice.endswith("CPUs 0-3")
    assert found.facts["cpus"] == [0, 1, 2, 3]
    assert found.facts["lines"]["taskset"] == "taskset -c 0-3"  # type: ignore[index]
    assert "taskset -c 0-3 PROGRAM" in found.evidence
    assert "4 threads compute, last seen on CPUs 0-1,4-5" in found.evidence
    assert found.facts["final"] is True


def test_a_policy_that_asks_for_no_sample_is_answered_by_without_one() -> None:
    decided = sampled(PACKED)
    one = seen(**{**decided, "state": replace(decided["state"], samples=Samples())})  # type: ignore[type-var]
    assert advice_on(one)[0].facts["hint"] == "slp"
    assert placement(one, chosen_of(one)).facts["cpus"] == [0, 1, 2, 3]


def test_ranks_like_the_one_that_was_seen_get_disjoint_places_by_its_hint() -> None:
    one = seen(**sampled(PACKED, instructions=1e9), ranks=2)
    found = placement(one, chosen_of(one))
    assert found.advice == "2 ranks of 4 threads, each packed (slp)"
    assert found.facts["ranks"] == [
        {
            "cpus": [4 * at + cpu for cpu in range(4)],
            "nodes": [at],
            "line": f"numactl --physcpubind={4 * at}-{4 * at + 3} --localalloc",
        }
        for at in range(2)
    ]
    assert found.evidence[1].startswith("rank 1: CPUs 4-7, memory of node 1: numactl ")
    options = "--ranks 2 --threads 4 --hint packed --as TOOL"
    assert f"for another launcher: autofinity hints {options}" in found.evidence


def test_ranks_without_room_are_said_to_have_none() -> None:
    one = seen(**sampled(PACKED, instructions=1e9), ranks=3)
    found = placement(one, chosen_of(one))
    assert found.advice == "3 ranks of 4 threads find no room"
    assert "cannot place 12 threads on 8 available CPUs" in found.evidence[0]


def test_an_answer_that_a_run_would_look_at_twice_is_said_not_to_be_final() -> None:
    counters = ("instructions",)
    again = RulePolicy(looked_at(counters), {}, (), SPREAD)
    policy = RulePolicy(counters, {}, (), PACKED, second=SecondLook(SPREAD, (PACKED,), again))
    one = seen(**{**sampled(PACKED, instructions=1e9), "policy": policy})
    found = placement(one, chosen_of(one))
    assert found.facts["final"] is False
    assert "not final: a run looks again in spread (SLP) before it moves threads" in found.evidence


def test_who_is_undecided_is_left_alone_and_told_why() -> None:
    found = placement(seen(), None)
    assert found.advice == "leave the threads where the system puts them"
    assert found.evidence[0] == "nothing was decided: there is no policy"
    assert found.facts["hint"] is None


def test_one_last_level_cache_is_the_only_reason_that_is_given() -> None:
    narrow = seen(available=frozenset(map(OsIndex, (0, 1))))
    found = placement(narrow, None)
    assert found.evidence[0] == ONE_LLC
    assert not any("nothing was decided" in line for line in found.evidence)
    assert found.facts["undecided"] == "there is no policy"


def test_threads_that_take_turns_are_to_share_as_many_cores_as_they_have_room_for() -> None:
    one = seen(**sampled(PACKED, instructions=1e9), threads=6, room=3)
    found = placement(one, chosen_of(one))
    assert found.facts["cpus"] == [0, 1, 2]
    assert any(
        line.startswith("6 threads take turns: they share 3 cores") for line in found.evidence
    )
    # OpenMP's places would get another thread count.
    assert set(found.facts["lines"]) == {"taskset", "numactl"}  # type: ignore[call-overload]
    each = seen(**sampled(PACKED, instructions=1e9))
    assert set(placement(each, chosen_of(each)).facts["lines"]) > {"omp"}  # type: ignore[call-overload]
    reads = seen(**sampled(PACKED, llc_misses=50e6), threads=6, room=3, node_gbs=100.0)
    assert thread_count(reads).facts["read_gbs"] == pytest.approx(3 * 50e6 * 64 / 1e9)


def test_more_threads_than_room_are_left_alone() -> None:
    one = seen(**sampled(PACKED, instructions=1e9), threads=99)
    assert chosen_of(one) is None
    found = placement(one, None)
    assert found.evidence[0] == "nothing was decided: there are too few CPUs for 99 threads"
    cpus = len(one.available)
    assert found.advice.startswith(f"none for 99 threads on {cpus} CPUs: run at most {cpus} ")
    assert placement(replace(one, threads=2, undecided="why"), None).advice.startswith("leave the")


def test_what_one_thread_initialised_for_several_nodes_is_to_be_interleaved() -> None:
    found = memory(seen(memory=ONE_NODES_PAGES))
    assert found.facts["policy"] == "interleave"
    assert found.facts["line"] == "numactl --interleave=0,1"
    assert "nearly all pages are on node 0" in found.advice
    assert "data first" not in found.advice
    assert found.facts["bytes_on_node"] == [120 * MIB, 8 * MIB]
    assert found.facts["threads_on_node"] == [2, 2]
    private = touched(*[(0, (8, 0))] * 10, *[(0, (0, 8))] * 10)
    better = memory(seen(memory=ONE_NODES_PAGES, touched=private))
    assert better.facts["policy"] == "interleave"
    assert "let each thread touch its data first" in better.advice


def test_threads_that_are_to_be_on_one_node_are_bound_to_its_memory_unless_it_is_there() -> None:
    found = memory(seen(**sampled(PACKED, instructions=1e9)))
    assert (found.facts["policy"], found.facts["line"]) == ("bind", "numactl --preferred=0")
    there = memory(seen(**sampled(PACKED, instructions=1e9), memory=ONE_NODES_PAGES))
    assert there.facts["policy"] == "first touch"


def test_a_node_without_memory_is_named_in_no_memory_policy() -> None:
    """`numactl` refuses such a node."""
    half_bare = replace(TWO_NODES, memoryless_nodes=frozenset({1}))
    pages = MemoryByNode((128 * MIB, 0))
    for cpus in ((0, 1, 4, 5), (4, 5, 6, 7)):
        on = tuple(map(OsIndex, cpus))
        found = memory(seen(topology=half_bare, cpus=on, memory=pages))
        assert (found.facts["policy"], found.facts["line"]) == ("first touch", None)


def test_pages_beside_their_threads_stay_by_first_touch() -> None:
    found = memory(seen())
    assert (found.facts["policy"], found.facts["line"]) == ("first touch", None)


def test_memory_that_fits_into_a_cache_goes_wherever_it_likes() -> None:
    cache = Cache(3, 128 * MIB, 64, 16, 4)
    topology = machine(packages=2, llcs=1, cores=4, caches=(cache,))
    found = memory(seen(**sampled(PACKED, instructions=1e9), topology=topology))
    assert (found.facts["policy"], found.facts["line"]) == ("first touch", None)
    assert "fit into one last-level cache" in found.advice
    divided = memory(
        seen(**sampled(PACKED, instructions=1e9), topology=replace(topology, llc_parts=4))
    )
    assert "fit into one last-level cache" not in divided.advice


def test_memory_that_was_not_seen_is_no_evidence() -> None:
    found = memory(seen(memory=None))
    assert found.facts["policy"] == "first touch"
    assert found.advice.endswith("the program ended before the nodes of its pages were read")
    assert found.facts["remote_share"] is None
    assert found.facts["bytes_on_node"] is None


def test_a_share_of_remote_reads_says_which_reads_it_is_of() -> None:
    pages = touched((0, (30, 10)), (1, (0, 40)), (0, (0, 20)))
    touches = seen(memory=None, touched=pages)
    assert memory(touches).evidence[0].startswith("30% of sampled touches are of pages of another")
    assert numa_balancing(touches, use_of(touches), None).evidence[1] == memory(touches).evidence[0]
    alike = seen(memory=ONE_NODES_PAGES)
    assert "would be from another node's memory if every thread" in memory(alike).evidence[1]
    reads = seen(**sampled(PACKED, dram_reads_local=3e6, dram_reads_remote=1e6))
    assert "25% of the program's reads of memory are from another node (counted reads)" in (
        memory(reads).evidence
    )


def test_pages_that_could_not_be_read_are_not_said_to_be_of_a_program_that_ended() -> None:
    found = memory(seen(**sampled(PACKED, instructions=1e9), memory=None))
    assert found.advice.endswith("nothing here shows which nodes have its pages")


def test_numa_balancing_is_off_where_all_pages_fit_into_a_cache_unless_reads_were_counted() -> None:
    uncounted = Use(0.5, "sampled touches", 0.0, None, cached=True)
    assert numa_balancing(seen(), uncounted, "first touch").facts["wanted"] is False
    counted = Use(0.5, "counted reads", 0.0, None, cached=True)
    assert numa_balancing(seen(), counted, "first touch").facts["wanted"] is True
    cache = Cache(3, 128 * MIB, 64, 16, 4)
    assert use_of(seen(topology=machine(packages=2, llcs=1, cores=4, caches=(cache,)))).cached
    assert not use_of(seen()).cached


def test_lengths_of_looks_are_told_on_the_clock_of_a_simulated_machine() -> None:
    looks = (TimelineStep(0, 60_000, {}), TimelineStep(60_000, 100_000, {}))
    found = placement(seen(timeline=looks, second_s=5e-4), None)
    (line,) = [line for line in found.evidence if line.startswith("watched for")]
    assert "watched for 0.1 ms of simulated time" in line
    assert "0.5 ms stand for 1 s of a run" in line
    live = placement(seen(timeline=looks), None)
    assert not any(line.startswith("watched for") for line in live.evidence)


def test_remote_reads_are_counted_else_sampled_else_worked_out_from_where_pages_are() -> None:
    alike = use_of(seen(memory=ONE_NODES_PAGES))
    assert alike.remote == pytest.approx(0.5)
    assert alike.how == "if every thread uses all pages alike"
    pages = touched((0, (30, 10)), (1, (0, 40)), (0, (0, 20)))
    sampled_use = use_of(seen(touched=pages))
    assert (sampled_use.remote, sampled_use.how) == (0.3, "sampled touches")
    assert sampled_use.shared == 0.4
    few = use_of(seen(touched=touched((0, (3, 1)))))
    assert few.shared is None
    both = {"dram_reads_local": 3e6, "dram_reads_remote": 1e6}
    assert use_of(seen(**sampled(PACKED, **both), touched=pages)).remote == 0.25
    misses = {"llc_misses": 4e6, "dram_reads_remote": 1e6}
    assert use_of(seen(**sampled(PACKED, **misses))).remote == 0.25
    nothing = {"llc_misses": 0.0, "dram_reads_remote": 0.0}
    assert use_of(seen(**sampled(PACKED, **nothing), memory=None)).remote is None


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("", "the kernel has no NUMA balancing"),
        ("0", "is 0: off"),
        ("1", "is 1: on"),
        ("2", "for memory tiers alone"),
        ("9", "a mode that is not known"),
        (None, "a simulated machine has none"),
    ],
)
def test_the_state_of_numa_balancing_is_told_as_it_is(state: str | None, said: str) -> None:
    found = numa_balancing(seen(numa_balancing=state), Use(0.5, "counted reads", 0.0, None), None)
    assert said in found.evidence[0]
    assert found.facts["wanted"] is True
    wanted = {"0": 1, "2": 3, "9": 1}.get(state or "")  # 2: memory tiers stay balanced
    line = f"sudo sysctl -w kernel.numa_balancing={wanted}" if wanted else None
    assert found.facts["line"] == line


@pytest.mark.parametrize(("state", "off"), [("1", "0"), ("3", "2"), ("0", None), ("2", None)])
def test_balancing_between_nodes_is_switched_off_without_that_of_memory_tiers(
    state: str, off: str | None
) -> None:
    found = numa_balancing(seen(numa_balancing=state), Use(0.5, "counted reads", 0.9, None), None)
    assert found.facts["line"] == (off and f"sudo sysctl -w kernel.numa_balancing={off}")


@pytest.mark.parametrize(
    ("use", "policy", "wanted"),
    [
        (Use(0.5, "", 0.0, None), "first touch", True),
        (Use(0.1, "", 0.0, None), "first touch", False),
        (Use(0.5, "", 0.9, None), "first touch", False),
        (Use(0.5, "", 0.0, 0), "interleave", False),
        (Use(0.5, "", 0.0, None), "bind", False),
        (Use(0.5, "", None, None), "first touch", None),
        (Use(0.1, "", None, None), "first touch", False),
        (Use(None, "", None, None), "first touch", None),
    ],
)
def test_numa_balancing_helps_where_remote_pages_have_a_node_to_go_to(
    use: Use, policy: str, wanted: bool | None
) -> None:
    found = numa_balancing(seen(numa_balancing="1"), use, policy)
    assert found.facts["wanted"] is wanted
    assert (found.facts["line"] is not None) == (wanted is False)


def test_on_one_node_there_is_nothing_to_choose_of_memory() -> None:
    one = seen(
        topology=ONE_NODE,
        available=ONE_NODE.allowed,
        cpus=tuple(map(OsIndex, (0, 1, 2, 3))),
        memory=MemoryByNode((MIB,)),
    )
    for section in (memory(one), numa_balancing(one, use_of(one), None)):
        assert section.advice == "one NUMA node: there is nothing to choose"


def test_smt_is_threads_against_cores() -> None:
    assert smt(seen(), None).advice.startswith("none here")
    siblings = machine(packages=2, cores=2, smt=2)
    has = {"topology": siblings, "available": siblings.allowed}
    on = tuple(map(OsIndex, (0, 1, 2, 4)))
    found = smt(seen(**has, cpus=on), None)
    assert found.facts["wanted"] is False
    assert found.facts["threads_sharing_a_core"] == 2
    crowd = smt(seen(**has, threads=8, cpus=on), None)
    assert crowd.facts["wanted"] is None
    assert crowd.advice.startswith("not measured")
    assert smt(seen(**has, threads=8, smt_slowdown=2.5), None).facts["wanted"] is False
    paid = smt(seen(**has, threads=8, smt_slowdown=1.6), None)
    assert paid.facts["wanted"] is True
    assert "1.25 times the work" in paid.advice


def test_a_placement_on_siblings_is_not_said_to_have_a_core_for_each_thread() -> None:
    siblings = machine(packages=2, llcs=1, cores=2, smt=2)
    on = tuple(map(OsIndex, (0, 2, 4, 6)))
    has = {"topology": siblings, "available": siblings.allowed, "cpus": on}
    packed = seen(**has, **sampled(PACKED, instructions=1e9))
    chosen = chosen_of(packed)
    note = "packed (slp) puts 4 threads on 2 cores, several to a core, and leaves 2 cores idle"
    found = smt(packed, chosen)
    assert found.advice == "not measured: time the program with a core for each of 4 threads, too"
    assert found.facts["wanted"] is None
    for section in (found, placement(packed, chosen)):
        assert any(line.startswith(note) for line in section.evidence)
    spread = seen(**has, **sampled(SPREAD, instructions=1e9))
    assert smt(spread, chosen_of(spread)).facts["wanted"] is False


@pytest.mark.parametrize("threads", [0, 1])
def test_fewer_threads_are_not_advised_where_there_are_not_two(threads: int) -> None:
    assert thread_count(seen(threads=threads)).advice == (
        "not measured: fewer than two threads computed at once"
    )


def test_threads_that_find_no_cpu_are_too_many() -> None:
    two_cpus = frozenset(map(OsIndex, (0, 1)))
    found = thread_count(seen(available=two_cpus))
    assert found.advice == "too many: 2 can run at a time"
    assert found.evidence == ("4 threads compute, 2 CPUs may be used",)
    assert (found.facts["enough_threads"], found.facts["why_not"]) == (2, None)
    waiting = thread_count(seen(available=two_cpus, room=2))  # no more than two run at a time
    assert waiting.facts["enough_threads"] is None


def test_threads_are_more_than_pay_where_memory_has_no_more_to_give() -> None:
    unknown = thread_count(seen())
    assert (
        unknown.advice
        == "not measured: time the program with fewer than 4 threads, too, by --curve 2,4"
    )
    two = thread_count(seen(threads=2))
    assert two.advice == "not measured: time the program with one thread, too, by --curve 1,2"
    reads = sampled(PACKED, dram_reads_local=20e6, dram_reads_remote=30e6)
    assert "doctor --measure" in thread_count(seen(**reads)).evidence[1]
    # Four threads at 50 M lines of 64 bytes a second: 12.8 GB/s.
    wide = thread_count(seen(**reads, node_gbs=16.0))
    assert wide.facts["used_share"] == pytest.approx(0.4)
    assert wide.facts["enough_threads"] is None
    full = thread_count(seen(**reads, node_gbs=12.8, memory=MemoryByNode((MIB, 0))))
    assert full.facts["used_share"] == pytest.approx(1.0)
    assert full.evidence[0] == (
        "4 threads read 12.80 GB/s from memory; memory could give 12.8 GB/s (100 % is used), since "
        "its fullest node (node 0) has 100 % of the pages"
    )
    assert full.facts["enough_threads"] == 3
    assert full.advice.startswith("memory is saturated: 3 threads")
    unlimited = thread_count(seen(**reads, node_gbs=math.inf))
    assert (unlimited.facts["used_share"], unlimited.facts["memory_gbs"]) == (0, None)
    hidden = thread_count(seen(**reads, node_gbs=12.8, memory=None))
    assert hidden.facts["used_share"] is None


def test_a_number_of_enough_threads_that_is_not_known_has_a_reason() -> None:
    reads = sampled(PACKED, dram_reads_local=20e6, dram_reads_remote=30e6)
    for one, why in (
        (seen(), "nothing was sampled"),
        (seen(**sampled(PACKED, instructions=1e9)), "reads of memory were not counted"),
        (seen(**reads), "memory bandwidth is not known"),
        (seen(**reads, node_gbs=16.0, memory=None), "nothing shows which nodes have its pages"),
        (seen(**reads, node_gbs=16.0), "memory is not saturated"),
    ):
        facts = thread_count(one).facts
        assert facts["enough_threads"] is None
        assert str(facts["why_not"]).startswith(why)
    full = thread_count(seen(**reads, node_gbs=12.8, memory=MemoryByNode((MIB, 0)))).facts
    assert (full["enough_threads"], full["why_not"]) == (3, None)


def test_bandwidth_on_a_cpu_is_of_misses_that_no_cache_answered() -> None:
    counts = {"llc_misses": 60e6, "dram_reads_local": 20e6, "dram_reads_remote": 20e6}
    reads = sampled(PACKED, **counts, cache_to_cache_transfers_other_llc=10e6)
    # Four threads at 60 − 10 M lines of 64 bytes a second.
    assert thread_count(seen(**reads)).facts["read_gbs"] == pytest.approx(12.8)
    simulated = thread_count(seen(**reads, exact_reads=True))
    assert simulated.facts["read_gbs"] == pytest.approx(10.24)


def test_every_question_is_answered_whatever_was_seen() -> None:
    questions = [section.question for section in advice_on(seen())]
    assert questions == [
        "placement",
        "expected gain",
        "memory policy",
        "NUMA balancing",
        "SMT",
        "threads",
    ]
    bare = seen(cpus=(), memory=None, threads=0, numa_balancing="")
    assert [section.question for section in advice_on(bare)] == questions
    assert TWO_NODES.n_nodes == 2
