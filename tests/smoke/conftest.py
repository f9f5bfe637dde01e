"""The launcher and small programs to run under it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from live_run import Runner

import autofinity
from autofinity.mechanisms.lists import launcher_header
from autofinity.model.affinity import PACKED
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def _compile(sources: Sequence[Path], out: Path, *flags: str) -> Path:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler: expected cc, gcc or clang")
    subprocess.run([compiler, "-O1", "-o", out, *flags, *sources, "-lpthread"], check=True)
    return out


@pytest.fixture(scope="session")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed launcher when the installed package is tested, else one built from here."""
    installed = Path(autofinity.__file__).resolve().parents[1] != ROOT
    if installed and "LAUNCHER_CFLAGS" not in os.environ:
        return Path(sys.executable).parent / "autofinity"
    return _compile_launcher(tmp_path_factory.mktemp("launcher"), ROOT)


@pytest.fixture
def compiled_launcher(tmp_path: Path) -> Callable[[Path | None], Path]:
    """Builds a launcher that takes another folder for its source tree; None: an installed one."""
    return lambda tree: _compile_launcher(tmp_path, tree)


def _compile_launcher(folder: Path, tree: Path | None) -> Path:
    sources = sorted((ROOT / "autofinity" / "native" / "launcher").glob("*.c"))
    # `make check-native` adds sanitizers.
    flags = ["-std=c11", "-D_GNU_SOURCE", *os.environ.get("LAUNCHER_CFLAGS", "").split()]
    (folder / "mechanism_lists.h").write_text(launcher_header())
    flags.append(f"-I{folder}")
    if tree is not None:
        flags.append(f'-DAUTOFINITY_SOURCE_DIR="{tree}"')
    return _compile(sources, folder / "autofinity", *flags)


def _program(name: str) -> Callable[[pytest.TempPathFactory], Path]:
    @pytest.fixture(scope="session", name=name)
    def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
        return _compile([HERE / f"{name}.c"], tmp_path_factory.mktemp(name) / name)

    return compiled


# Each tells at its head what it does.
probe, spinner, pairs = _program("probe"), _program("spinner"), _program("pairs")
sharers, phases, blocked = _program("sharers"), _program("phases"), _program("blocked")


@pytest.fixture(scope="session")
def fake_pmu(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Library that makes hardware events countable where there is no PMU."""
    folder = tmp_path_factory.mktemp("pmu")
    return _compile([HERE / "fake_pmu.c"], folder / "fake_pmu.so", "-shared", "-fPIC")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose one answer is: packed."""
    path = tmp_path / "policy.json"
    save(RulePolicy(("data_cache_accesses",), {"data_cache_accesses": (1.0,)}, (), PACKED), path)
    return path


@pytest.fixture
def run(launcher: Path, tmp_path: Path) -> Runner:
    return Runner.within(tmp_path, launcher)
