"""Every training program builds with the plain compilers and answers right on its tiny input.

The manifest is read here with `tomllib` and nothing of ours, so that a fault in the package's own
reader cannot hide one in the programs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

TRAINING = Path(__file__).resolve().parents[2] / "training"
MANIFEST: dict[str, Any] = tomllib.loads((TRAINING / "suite.toml").read_text())
PROGRAMS: dict[str, dict[str, Any]] = MANIFEST["programs"]
SIZES = ("tiny", "small", "medium", "large", "core", "llc", "memory")
"""By accesses, then by what they do to a machine."""
THREADS = (1, 2, 3, 384)
"""The most is that of two EPYC 9654 with all their hardware threads."""
COMPILERS = {
    "cc": os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc"),
    "cxx": os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++"),
    "fc": os.environ.get("FC") or shutil.which("gfortran"),
}
EACH_BUILT = [(name, name) for name in PROGRAMS]
STRICT = "-Wall -Wextra -Werror"


def _need_compilers(program: dict[str, Any]) -> None:
    text = " ".join(program["build"])
    for name, path in COMPILERS.items():
        if f"{{{name}}}" in text and path is None:
            pytest.skip(f"no {name} compiler here for a {program['language']} program")


def _expand(text: str, out: Path, threads: int) -> str:
    values = {
        **{compiler: path or "" for compiler, path in COMPILERS.items()},
        **dict.fromkeys(("cflags", "cxxflags", "fflags"), STRICT),
        "ldflags": "",
        "vectors": "",
        "dir": str(TRAINING),
        "out": str(out),
        "threads": str(threads),
        "jobs": "1",
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the program named by the parameter was built, once for all tests."""
    name = request.param
    _need_compilers(PROGRAMS[name])
    out = tmp_path_factory.mktemp(name)
    for line in PROGRAMS[name]["build"]:
        done = subprocess.run(
            _expand(line, out, 2), shell=True, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    return out


def _run(name: str, out: Path, size: str, threads: int) -> subprocess.CompletedProcess[str]:
    return _run_with(name, out, PROGRAMS[name]["inputs"][size].split(), threads)


def _run_with(
    name: str, out: Path, given: list[str], threads: int
) -> subprocess.CompletedProcess[str]:
    program = PROGRAMS[name]
    arguments: list[str] = []
    for element in program["run"]:
        words = given if element == "{input}" else [element]
        arguments += [_expand(word, out, threads) for word in words]
    extra = {
        key: _expand(value, out, threads)
        for key, value in program["threads"].get("env", {}).items()
    }
    return subprocess.run(
        arguments,
        env={**os.environ, **extra},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_the_suite_has_many_kinds_of_program_in_three_languages() -> None:
    assert len(PROGRAMS) >= 12
    assert {p["language"] for p in PROGRAMS.values()} == {"c", "c++", "fortran"}
    assert {p["parallel"] for p in PROGRAMS.values()} >= {"openmp", "pthreads"}
    assert len({p["family"] for p in PROGRAMS.values()}) >= 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_a_folder_every_size_and_a_line_in_the_readme(name: str) -> None:
    assert (TRAINING / name).is_dir()
    assert tuple(PROGRAMS[name]["inputs"]) == SIZES
    assert PROGRAMS[name]["threads"]["allowed"] == f"1-{THREADS[-1]}"
    assert f"| {name} |" in (TRAINING / "README.md").read_text()


@pytest.mark.parametrize(("name", "built"), EACH_BUILT, indirect=["built"])
def test_a_program_builds_without_warnings_and_says_ok(name: str, built: Path) -> None:
    for threads in THREADS:
        done = _run(name, built, "tiny", threads)
        assert done.returncode == 0, done.stdout + done.stderr
        assert re.search(PROGRAMS[name]["expect"], done.stdout, re.MULTILINE), done.stdout


@pytest.mark.parametrize(("name", "built"), EACH_BUILT, indirect=["built"])
def test_a_program_without_its_arguments_ends_with_two(name: str, built: Path) -> None:
    executable = _expand(PROGRAMS[name]["run"][0], built, 2)
    done = subprocess.run([executable], capture_output=True, check=False)
    assert done.returncode == 2


REPEATS = [
    ("lu", "3 3"),
    ("cg", "10 4 3"),
    ("mergesort", "16384 3"),
    ("groupby", "6400 8 64 3"),
    ("groupby", "6400 8 64 3 96"),
    ("prodcons", "128 4 2048 8"),
    ("sor", "1100 3"),
]
"""Inputs with what only some sizes have: repeats, more partitions, a ring of many blocks, a square
that one thread repeats in part."""


@pytest.mark.parametrize(
    ("built", "words"), REPEATS, indirect=["built"], ids=[f"{n} {w}" for n, w in REPEATS]
)
def test_a_program_answers_right_with_the_arguments_of_larger_sizes(
    built: Path, words: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["built"]
    for threads in (1, 3):
        done = _run_with(name, built, words.split(), threads)
        assert (done.returncode, done.stdout[:3]) == (0, "ok "), done.stdout + done.stderr
