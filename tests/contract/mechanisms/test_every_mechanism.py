"""Every mechanism, in the common loop: on a fake process and on the simulated machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fake_sharing import FakeSharing, pairs
from mixed_program import mixed_program
from sim_programs import kept

import autofinity.mechanisms as room
from autofinity.evaluation.mechanism_run import run_mechanism
from autofinity.mechanisms.recipe import Setting, WholeTrace
from autofinity.mechanisms.registry import MECHANISMS, TABLE, pick
from autofinity.model.affinity import SPREAD
from autofinity.model.errors import UsageError
from autofinity.model.policy import RulePolicy
from autofinity.ports import RunRequest, Sensors
from autofinity.runtime.loop import run_loop
from autofinity.sim.machine import SimMachine
from autofinity.sim.preset import load_preset

THREADS = 8
POLICY = RulePolicy(counters=("instructions",), cut_points={}, rules=(), default=SPREAD)
PAGES = dict.fromkeys(range(64), (0, 9, 0, 0, 0, 0, 0, 0))


@pytest.fixture(scope="module")
def machine() -> SimMachine:
    return SimMachine.preset("opteron-6164he")


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> str:
    return kept(mixed_program(rounds=60), tmp_path_factory.mktemp("trace") / "mixed")


def setting(machine: SimMachine, paper_second_ns: int) -> Setting:
    return Setting(
        machine.topology,
        THREADS,
        machine.clock_hz,
        seed=1,
        paper_second_ns=paper_second_ns,
        policy=POLICY,
        sample=lambda hint: {"instructions": 1e9},
        whole_trace=lambda: WholeTrace(
            pairs(THREADS), {page: tuple(range(1, 1 + THREADS)) for page in range(64)}
        ),
    )


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_runs_in_the_loop_and_leaves_masks_valid(
    name: str, machine: SimMachine
) -> None:
    for recipe in MECHANISMS[name].make(setting(machine, 1_000_000)):
        assert recipe.name == name
        counters = tuple(dict.fromkeys((*recipe.sensors.counters, "cycles")))
        process = FakeSharing(THREADS, counters, pairs(THREADS), PAGES)
        topology = machine.topology
        state = recipe.begin(topology, topology.allowed, THREADS)
        run_loop(process, recipe, state, recipe.period_ns)
        for masks in process.bindings:
            assert len(masks) == THREADS
            assert all(mask and mask <= topology.allowed for mask in masks)
        assert all(0 <= node < topology.n_nodes for node in process.nodes.values())
        assert bool(process.bindings or process.nodes) == (recipe.sensors != Sensors())
        entry = MECHANISMS[name]
        if name != "unified":  # which nothing here is worth moving for
            assert bool(process.nodes) == entry.moves_pages
            assert bool(process.spent_ns) == bool(entry.mapping_ns)


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_runs_to_the_end_on_the_simulated_machine(
    name: str, machine: SimMachine, trace: str
) -> None:
    request = RunRequest(trace, threads=THREADS, repeats=3)
    for recipe in MECHANISMS[name].make(setting(machine, 100_000)):
        run = run_mechanism(machine, request, recipe, seed=1)
        assert run.time_s > 0
        assert run.instructions > 0
        assert 0 <= run.overhead < 1
        detects = bool(recipe.sensors.detectors)
        assert detects or run.page_migrations == 0


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_keeps_pages_off_nodes_without_memory(name: str, trace: str) -> None:
    preset = load_preset("kmaf16-simulated")
    topology = replace(preset.topology, memoryless_nodes=frozenset({1}))
    machine = SimMachine(replace(preset, topology=topology))
    shared = {page: (page % 5, 9, 9, 0, 1, 1, 9, 9) for page in range(64)}
    known = WholeTrace(pairs(THREADS), shared)
    here = replace(setting(machine, 100_000), whole_trace=lambda: known)
    request = RunRequest(trace, threads=THREADS, repeats=3)
    for recipe in MECHANISMS[name].make(here):
        assert run_mechanism(machine, request, recipe, seed=1).time_s > 0


def test_the_baseline_and_the_oracle_are_always_among_those_picked() -> None:
    names = [entry.name for entry in pick(["kmaf16"])]
    assert names == ["os", "kmaf16", "oracle"]
    assert [entry.name for entry in pick([])] == list(MECHANISMS)
    with pytest.raises(UsageError, match="unknown mechanism magic; expected some of os"):
        pick(["kmaf16", "magic"])


def test_every_recipe_is_short() -> None:
    """About sixty lines of recipe, documentation left out."""
    for module in {entry.recipe.partition(":")[0] for entry in TABLE}:
        most = 85 if module == "unified" else 65
        assert _code_lines(Path(room.__path__[0]) / f"{module}.py") <= most, module


def _code_lines(path: Path) -> int:
    import ast

    tree = ast.parse(path.read_text())
    body = [
        node for node in tree.body if not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)
    ]
    lines = set[int]()
    for top in body:
        for node in ast.walk(top):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                continue
            if isinstance(node, ast.stmt | ast.expr | ast.arg) and hasattr(node, "lineno"):
                lines.add(node.lineno)
    return len(lines)
