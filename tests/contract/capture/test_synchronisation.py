"""The table of functions that order threads is whole, and each that is kept is in the trace."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from workshop import Captured, Workshop

from autofinity.capture.binary import library_folder
from autofinity.capture.build import runtime_folder
from autofinity.capture.synchronisation import synchronisation

HERE = Path(__file__).parent
TABLE = synchronisation()
KEPT = {name: group for group in TABLE.kept for name in group.functions}
SEEN = {name: group.event for name, group in KEPT.items() if group.event}


def exports(library: Path) -> frozenset[str]:
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    fields = (line.split() for line in done.stdout.splitlines())
    return frozenset(f[2].partition("@")[0] for f in fields if len(f) == 3 and f[1] in "TWi")


def system_library(name: str) -> Path:
    said = subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    return Path(said.stdout.strip())


@pytest.fixture(scope="module")
def runtime() -> frozenset[str]:
    return exports(runtime_folder() / "libtsan.so.2")


@pytest.fixture(scope="module")
def preload() -> frozenset[str]:
    return exports(library_folder() / "libautofinity-preload.so")


@pytest.mark.parametrize("name", sorted(KEPT))
def test_the_runtime_stands_in_for_each_function_that_is_kept(
    name: str, runtime: frozenset[str], preload: frozenset[str]
) -> None:
    assert name in runtime, "of compiled programs"
    assert name in preload, "of binaries"


@pytest.mark.parametrize("library", ["libc.so.6", "libgomp.so.1"])
def test_the_table_names_every_function_of_these_families_that_the_library_has(
    library: str,
) -> None:
    named = [name for name in exports(system_library(library)) if name.startswith(TABLE.families)]
    assert len(named) > 100
    assert [name for name in named if TABLE.why_lost(name) == "it is not known here"] == []


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """Standing in for a function does not depend on how the program is built."""
    return Workshop(tmp_path_factory.mktemp("synchronising"))


def between_marks(run: Captured) -> list[str]:
    """Kinds of all events that a thread has between its access to one mark and to the other."""
    marks = run.address("marks") >> 6
    found: list[str] = []
    for stream in run.streams:
        inside = False
        for kind, value, _ in run.events(stream, *KINDS):
            if kind == "access" and value in (marks, marks + 1):
                inside = value == marks
            elif inside:
                found.append(kind)
    return found


KINDS = ("access", "lock", "unlock", "barrier", "post", "await", "unit_begin", "unit_end")


@pytest.mark.parametrize("name", sorted(SEEN))
def test_a_call_of_each_function_that_is_kept_is_in_the_trace(single: Workshop, name: str) -> None:
    openmp = name.startswith(("GOMP_", "omp_"))
    source = HERE / f"synchronising_{'openmp' if openmp else 'posix'}.c"
    if openmp and shutil.which("gcc") is None:
        pytest.skip("no gcc: libgomp is its library")
    flags = "-O1 -fopenmp -pthread" if openmp else "-O1 -pthread"
    if name.startswith("__cxa_"):
        flags += " -Wl,--no-as-needed -lstdc++"
    run = single.run(
        source.read_text().replace(
            "what = arguments[count - 1];",
            'what = arguments[count - 1];\n    printf("marks %p\\n", (void*)marks);\n'
            "    fflush(stdout);",
        ),
        name,
        flags=flags,
        env={"OMP_CANCELLATION": "true"},
    )
    assert run.code == 0, run.stderr
    assert SEEN[name] in between_marks(run)
