"""Unified: a core set from the policy, seats in it from sharing, pages after the threads."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fake_sharing import FakeSharing, pairs

from autofinity.affinity.hints import get_affinity
from autofinity.mechanisms.autofinity import InRun, restarted
from autofinity.mechanisms.recipe import Setting
from autofinity.mechanisms.sharing_aware import nothing
from autofinity.mechanisms.unified import Unified, seen
from autofinity.model.affinity import DISTRIBUTED, PACKED, Hint
from autofinity.model.errors import UsageError
from autofinity.model.policy import Condition, Rule, RulePolicy
from autofinity.model.sharing import NumaVectors, SharingMatrix
from autofinity.runtime.loop import run_loop
from autofinity.sim.preset import load_preset

TOPOLOGY = load_preset("xeon-e5-2650").topology
THREADS = 8
FAST = Condition("instructions", 1e6, float("inf"))
POLICY = RulePolicy(("instructions",), {}, (Rule((FAST,), PACKED),), DISTRIBUTED)
SETTING = Setting(TOPOLOGY, THREADS, clock_hz=1e9, paper_second_ns=1_000_000, policy=POLICY)


def run(setting: Setting, sharing: SharingMatrix, *, gains: bool = True) -> FakeSharing:
    recipe = Unified(setting)
    process = FakeSharing(THREADS, recipe.sensors.counters, sharing, {7: (0, 1)}, gains=gains)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    run_loop(process, recipe, state, recipe.period_ns)
    return process


def cpus_of(masks: tuple[frozenset[int], ...]) -> list[int]:
    return [min(mask) for mask in masks]


@pytest.mark.parametrize("hint", [DISTRIBUTED, PACKED])
def test_the_policy_says_which_cores_and_sharing_says_who_sits_beside_whom(hint: Hint) -> None:
    policy = replace(POLICY, rules=(), default=hint)
    process = run(replace(SETTING, policy=policy), pairs(THREADS))
    last = cpus_of(process.bindings[-1])
    assert set(last) == set(get_affinity(TOPOLOGY, THREADS, hint).cpus)
    package = [TOPOLOGY.by_os_index[cpu].package for cpu in last]
    assert package[:4] == package[4:]


def test_without_sharing_the_threads_sit_as_autofinity_puts_them() -> None:
    alone = FakeSharing(THREADS, ("instructions", "cycles"), gains=True)
    recipe = InRun(SETTING)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    run_loop(alone, recipe, state, recipe.period_ns)
    assert run(SETTING, nothing(THREADS)).bindings == alone.bindings
    assert cpus_of(alone.bindings[-1]) == list(get_affinity(TOPOLOGY, THREADS, PACKED).cpus)


def test_the_guard_takes_a_core_set_back_that_does_not_pay() -> None:
    process = run(SETTING, nothing(THREADS), gains=False)
    assert cpus_of(process.bindings[-1]) == list(get_affinity(TOPOLOGY, THREADS, DISTRIBUTED).cpus)


def test_an_equal_pattern_moves_nobody_within_the_set() -> None:
    everyone = SharingMatrix(
        tuple(tuple(float(i != j) * 9 for j in range(THREADS)) for i in range(THREADS))
    )
    assert run(SETTING, everyone).bindings == run(SETTING, nothing(THREADS)).bindings


def test_pages_follow_the_threads_once_they_are_placed() -> None:
    assert run(SETTING, nothing(THREADS)).nodes == {7: 1}


def test_faults_from_before_a_move_do_not_count() -> None:
    recipe = Unified(SETTING)
    state = recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS)
    state = seen(state, NumaVectors({1: (5, 0)}))
    state = replace(state, since={})  # the threads moved
    state = seen(state, NumaVectors({1: (5, 2)}))
    assert state.since == {1: (0, 2)}
    state = seen(state, NumaVectors({1: (2, 1), 2: (0, 1)}))  # halved
    assert state.since == {1: (0, 2), 2: (0, 1)}


def test_autofinity_run_again_looks_at_a_sample_and_where_the_policy_says_so_at_a_second() -> None:
    asked: list[Hint] = []

    def sample(hint: Hint) -> dict[str, float]:
        asked.append(hint)
        return {"instructions": 2e6}

    chosen = restarted(replace(SETTING, sample=sample)).start.placement
    assert chosen is not None
    assert cpus_of(chosen.masks) == list(get_affinity(TOPOLOGY, THREADS, PACKED).cpus)
    assert asked == [DISTRIBUTED]
    with pytest.raises(UsageError, match="expected one to be possible"):
        restarted(SETTING)
    with pytest.raises(UsageError, match="name one with --policy"):
        InRun(replace(SETTING, policy=None))


def test_the_decider_sees_a_longer_run_at_the_same_rates() -> None:
    """1 ms of the run stands for 1 s: a sample of 1 s takes 1 ms."""
    recipe = InRun(SETTING)
    process = FakeSharing(THREADS, recipe.sensors.counters, intervals=60)
    state = run_loop(
        process, recipe, recipe.begin(TOPOLOGY, TOPOLOGY.allowed, THREADS), recipe.period_ns
    )
    assert state.sample is not None
    assert state.sample["instructions"] == pytest.approx(1e9)  # COUNTED a microsecond
