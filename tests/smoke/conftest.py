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


@pytest.fixture(scope="session")
def probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program that tells how it was started."""
    return _compile([HERE / "probe.c"], tmp_path_factory.mktemp("probe") / "probe")


@pytest.fixture(scope="session")
def spinner(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program that computes with N threads for S seconds, each where it pins itself if asked."""
    return _compile([HERE / "spinner.c"], tmp_path_factory.mktemp("spinner") / "spinner")


@pytest.fixture(scope="session")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program whose threads share pages by twos."""
    return _compile([HERE / "pairs.c"], tmp_path_factory.mktemp("pairs") / "pairs")


@pytest.fixture(scope="session")
def sharers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program whose threads compute and share pages by twos, which fault again and again."""
    return _compile([HERE / "sharers.c"], tmp_path_factory.mktemp("sharers") / "sharers")


@pytest.fixture(scope="session")
def phases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program that computes and, from one SIGUSR1 to the next, has page faults too."""
    return _compile([HERE / "phases.c"], tmp_path_factory.mktemp("phases") / "phases")


@pytest.fixture(scope="session")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Program that runs another one with system calls refused."""
    return _compile([HERE / "blocked.c"], tmp_path_factory.mktemp("blocked") / "blocked")


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
