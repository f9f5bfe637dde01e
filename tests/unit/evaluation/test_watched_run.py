"""Runs that are watched for pages: the same to the bit, with all their counts in a few looks."""

from __future__ import annotations

import pytest
from mixed_program import mixed_program
from sim_programs import kept

from autofinity.detect.whole_trace import whole_trace
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.evaluation.watched_run import MOST_LOOKS, watched_run
from autofinity.mechanisms.recipe import Recipe, Setting, WholeTrace
from autofinity.mechanisms.registry import MECHANISMS
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.model.reads_by_node import is_by_node
from autofinity.ports import RunRequest
from autofinity.sim.machine import SimMachine
from autofinity.sim.together import ProgramRun, prepare_together

THREADS, LOOK_NS = 8, 1_000
MACHINE = SimMachine.preset("opteron-6164he")
POLICY = RulePolicy(counters=("instructions",), cut_points={}, rules=(), default=PACKED)
MOVE_NOTHING = ("os", "sammu")
"""The program is over before the second one has seen enough."""
MOVE_FROM_THE_START = ("packed", "interleave", "oracle-trace")
MOVE_LATER = ("autofinity", "kmaf16", "numa-balancing", "blackbox")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    return kept(mixed_program(rounds=60), tmp_path_factory.mktemp("trace") / "mixed")


def recipe(name: str, trace: str, paper_second_ns: int = 100_000) -> Recipe[None]:
    def known() -> WholeTrace:
        sharing, accesses = whole_trace(
            prepare_together([ProgramRun(trace, ())]), tuple(range(THREADS)), 4096
        )
        return WholeTrace(sharing, accesses.pages)

    setting = Setting(
        MACHINE.topology,
        THREADS,
        MACHINE.clock_hz,
        seed=1,
        paper_second_ns=paper_second_ns,
        policy=POLICY,
        sample=lambda hint: {"instructions": 1e9},
        whole_trace=known,
    )
    return MECHANISMS[name].make(setting)[0]


@pytest.mark.parametrize("name", [*MOVE_NOTHING, *MOVE_FROM_THE_START, *MOVE_LATER])
def test_a_watched_run_is_the_run_to_the_bit(name: str, trace: str) -> None:
    request = RunRequest(trace, threads=THREADS, repeats=3)
    watched = watched_run(MACHINE, request, recipe(name, trace), 1)
    assert watched.run == run_mechanism(MACHINE, request, recipe(name, trace), 1)
    assert watched.moved == (name not in MOVE_NOTHING)


@pytest.mark.parametrize("name", ["os", "packed", "kmaf16"])
def test_few_looks_have_all_that_each_thread_did(name: str, trace: str) -> None:
    request = RunRequest(trace, threads=THREADS, repeats=5)
    watched = watched_run(MACHINE, request, recipe(name, trace, LOOK_NS), 1)
    looks = watched.looks
    assert watched.run.time_s > MOST_LOOKS * LOOK_NS / 1e9
    assert len(looks) == MOST_LOOKS
    assert [each.start_ns for each in looks[1:]] == [each.end_ns for each in looks[:-1]]
    assert looks[-1].end_ns - looks[0].start_ns == round(watched.run.time_s * 1e9)
    assert watched.threads == tuple(range(THREADS))
    counts = [counts for look in looks for counts in look.counts.values()]
    assert sum(each["instructions"] for each in counts) == watched.run.instructions
    local_and_remote = sum(each["dram_reads_local"] + each["dram_reads_remote"] for each in counts)
    by_node = sum(count for each in counts for key, count in each.items() if is_by_node(key))
    assert by_node == local_and_remote > 0
    places = {look.place for look in looks}
    assert (places == {""}) == (name == "os")
    assert (len(places) > 1) == (name == "kmaf16")
