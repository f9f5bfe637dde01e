"""The launcher and small programs to run under it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

import autofinity
from autofinity.model.affinity import PACKED
from autofinity.model.errors import StoreError
from autofinity.model.policy import RulePolicy
from autofinity.policy.files import save
from autofinity.store.behaviour_db import BehaviourDB
from autofinity.store.behaviour_rows import RunRecord

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MONITORS = {b"autofinity.runtime.monitor", b"autofinity.mechanisms.monitor"}


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


def _prefer() -> None:
    with suppress(PermissionError):
        os.nice(-10)


@dataclass(frozen=True)
class Runner:
    """Starts programs under the launcher, with a state folder of their own."""

    launcher: Path
    state: Path
    env: dict[str, str]

    @property
    def db(self) -> Path:
        return self.state / "autofinity" / "behaviour.db"

    def command(self, *arguments: str | bytes | Path) -> list[str | bytes | Path]:
        return [self.launcher, "run", *arguments]

    def __call__(
        self, *arguments: str | bytes | Path, **options: object
    ) -> subprocess.CompletedProcess[bytes]:
        options.setdefault("env", self.env)
        return subprocess.run(self.command(*arguments), capture_output=True, timeout=300, **options)  # type: ignore[call-overload,no-any-return]

    def start(self, *arguments: str | bytes | Path, **options: object) -> subprocess.Popen[bytes]:
        options.setdefault("env", self.env)
        return subprocess.Popen(self.command(*arguments), **options)  # type: ignore[call-overload,no-any-return]

    @contextmanager
    def lasting(
        self, *arguments: str | bytes | Path, **options: object
    ) -> Iterator[subprocess.Popen[bytes]]:
        """A program that would run for minutes, until the test has seen what it waits for.

        It is preferred to whatever else runs here where that is permitted: a thread that gets less
        than a tenth of a CPU counts as idle, and nothing is ever decided about it.
        """
        options.setdefault("preexec_fn", _prefer)
        with self.start(*arguments, **options) as process:
            try:
                yield process
            finally:
                process.kill()

    @staticmethod
    def on_two_cpus() -> None:
        """For `preexec_fn`: as by default, and only two CPUs are allowed."""
        _prefer()
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])

    def last(self) -> RunRecord | None:
        """The latest run on record."""
        try:
            with BehaviourDB.open(self.db, read_only=True) as database:
                return next(iter(database.runs()), None)
        except StoreError:  # the monitor is just making it
            return None

    def placed(self) -> RunRecord | None:
        """The latest run, once its threads are placed."""
        found = self.last()
        return found if found is not None and found.phase == "placed" else None

    @staticmethod
    def monitors_of(pid: int) -> list[int]:
        """Python monitors that watch `pid`."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    words = (entry / "cmdline").read_bytes().split(b"\0")
                except OSError:
                    continue
                if not MONITORS.isdisjoint(words) and str(pid).encode() in words:
                    found.append(int(entry.name))
        return found

    @staticmethod
    def eventually[T](ask: Callable[[], T], seconds: float = 120.0) -> T:
        """First true answer within a time that no loaded machine needs; else the last answer."""
        end = time.monotonic() + seconds
        while True:
            answer = ask()
            if answer or time.monotonic() > end:
                return answer
            time.sleep(0.02)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    """A policy whose one answer is: packed."""
    path = tmp_path / "policy.json"
    save(RulePolicy(("data_cache_accesses",), {"data_cache_accesses": (1.0,)}, (), PACKED), path)
    return path


@pytest.fixture
def run(launcher: Path, tmp_path: Path) -> Iterator[Runner]:
    state = tmp_path / "state"
    env = {name: value for name, value in os.environ.items() if not name.startswith("OMP_")}
    env |= {"XDG_STATE_HOME": str(state), "AUTOFINITY_PYTHON": sys.executable}
    env["XDG_CONFIG_HOME"] = str(tmp_path / "config")
    env.pop("AUTOFINITY_POLICY", None)
    yield Runner(launcher, state, env)
