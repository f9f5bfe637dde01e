"""The launcher and small programs to run under it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from compiled import compiled, compiled_launcher, launcher_of
from live_run import Runner

from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return launcher_of(tmp_path_factory.mktemp("launcher"))


@pytest.fixture(name="compiled_launcher")
def make_launcher(tmp_path: Path) -> Callable[[Path | None], Path]:
    """Build a launcher that takes another folder for its source tree; None: an installed one."""
    return lambda tree: compiled_launcher(tmp_path, tree)


def _program(name: str) -> Callable[[pytest.TempPathFactory], Path]:
    @pytest.fixture(scope="session", name=name)
    def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
        return compiled([HERE / f"{name}.c"], tmp_path_factory.mktemp(name) / name)

    return program


# The head of each describes it.
probe, spinner, pairs = _program("probe"), _program("spinner"), _program("pairs")
sharers, phases, blocked = _program("sharers"), _program("phases"), _program("blocked")
turns, makers = _program("turns"), _program("makers")


@pytest.fixture(scope="session")
def fake_pmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Library that makes hardware events countable where there is no PMU."""
    folder = tmp_path_factory.mktemp("pmu")
    return compiled([HERE / "fake_pmu.c"], folder / "fake_pmu.so", "-shared", "-fPIC")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose only answer is: packed."""
    path = tmp_path / "policy.json"
    save(RulePolicy(("data_cache_accesses",), {"data_cache_accesses": (1.0,)}, (), PACKED), path)
    return path


@pytest.fixture
def run(launcher: Path, tmp_path: Path) -> Runner:
    return Runner.within(tmp_path, launcher)
