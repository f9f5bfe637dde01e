"""Every training program builds with the plain compilers and answers right on its tiny input."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_programs import THREADS, PlainSuite

TRAINING = PlainSuite(Path(__file__).resolve().parents[2] / "training")
PROGRAMS = TRAINING.programs
SIZES = ("tiny", "small", "medium", "large", "core", "llc", "memory")
"""By accesses, then by what they do to a machine."""
EACH_BUILT = [(name, name) for name in PROGRAMS]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the program named by the parameter was built, once for all tests."""
    out = tmp_path_factory.mktemp(request.param)
    TRAINING.build(request.param, out)
    return out


def test_the_suite_has_many_kinds_of_program_and_needs_no_compiler_beyond_ours() -> None:
    assert len(PROGRAMS) >= 12
    assert {p["language"] for p in PROGRAMS.values()} == {"c", "c++"}
    assert {p["parallel"] for p in PROGRAMS.values()} >= {"openmp", "pthreads"}
    assert len({p["family"] for p in PROGRAMS.values()}) >= 10


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_a_folder_every_size_and_a_line_in_the_readme(name: str) -> None:
    assert (TRAINING.folder / name).is_dir()
    assert tuple(PROGRAMS[name]["inputs"]) == SIZES
    assert PROGRAMS[name]["threads"]["allowed"] == f"1-{THREADS[-1]}"
    assert f"| {name} |" in (TRAINING.folder / "README.md").read_text()


@pytest.mark.parametrize(("name", "built"), EACH_BUILT, indirect=["built"])
def test_a_program_builds_without_warnings_and_says_ok(name: str, built: Path) -> None:
    TRAINING.check_answers(name, built)


@pytest.mark.parametrize(("name", "built"), EACH_BUILT, indirect=["built"])
def test_a_program_without_its_arguments_ends_with_two(name: str, built: Path) -> None:
    TRAINING.check_refusal(name, built)


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
        done = TRAINING.run(name, built, words.split(), threads)
        assert (done.returncode, done.stdout[:3]) == (0, "ok "), done.stdout + done.stderr
