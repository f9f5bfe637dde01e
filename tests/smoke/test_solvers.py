"""Every solver builds with the plain compilers and answers right on its tiny input."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from plain_programs import THREADS, PlainSuite

ROOT = Path(__file__).resolve().parents[2]
SOLVERS = PlainSuite(ROOT / "solvers")
OTHERS = [PlainSuite(ROOT / name) for name in ("training", "kernels")]
SIZES = ("tiny", "small", "medium", "large", "core", "llc", "memory")
"""As in the training suite."""
EACH_BUILT = [(name, name) for name in SOLVERS.programs]


@pytest.fixture(scope="module")
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the program named by the parameter was built, once for all tests."""
    out = tmp_path_factory.mktemp(request.param)
    SOLVERS.build(request.param, out)
    return out


@pytest.mark.parametrize("name", SOLVERS.programs)
def test_a_solver_has_every_size_and_a_line_in_the_readme(name: str) -> None:
    program = SOLVERS.programs[name]
    assert tuple(program["inputs"]) == SIZES
    assert program["threads"]["allowed"] == f"1-{THREADS[-1]}"
    assert f"| {name} |" in (SOLVERS.folder / "README.md").read_text()


@pytest.mark.parametrize(("name", "built"), EACH_BUILT, indirect=["built"])
def test_a_solver_builds_without_warnings_says_ok_and_refuses_no_arguments(
    name: str, built: Path
) -> None:
    SOLVERS.check_answers(name, built)
    SOLVERS.check_refusal(name, built)


ODD = [
    ("adi", "8 1"),
    ("adi", "13 5"),
    ("amr", "2 1"),
    ("amr", "3 23"),
    ("multigrid", "4 1"),
    ("multigrid", "22 3"),
    ("ssor", "1 2"),
    ("ssor", "7 5"),
]
"""Grids that do not divide by threads or by two, and the smallest ones; a mesh that is made three
times, and one that is made once."""


@pytest.mark.parametrize(
    ("built", "words"), ODD, indirect=["built"], ids=[f"{n} {w}" for n, w in ODD]
)
def test_a_solver_gives_the_same_answer_with_every_number_of_threads(
    built: Path, words: str, request: pytest.FixtureRequest
) -> None:
    name = request.node.callspec.params["built"]
    answers = set()
    for threads in (1, 3, 8):
        done = SOLVERS.run(name, built, words.split(), threads)
        assert (done.returncode, done.stdout[:3]) == (0, "ok "), done.stdout + done.stderr
        answers.add(done.stdout)
    assert len(answers) == 1


BROKEN = [
    ("adi", "along(3))", "along(1))"),  # lines along z by the factors of those along x
    ("adi", "merge(29.0_real64", "merge(30.0_real64"),  # systems with other walls than the field
    ("amr", "quarter < 4", "quarter < 3"),  # a neighbour is forgotten
    ("amr", "1.0 / 3.0}", "0.4}"),  # heat arrives that nobody gave
    ("amr", "step % kStepsOfMesh == 0", "false"),  # the mesh stays where it was
    ("multigrid", "on = j % 2 * coarse->row", "on = 0"),  # corrections are not spread along y
    ("multigrid", "-1.0 / 64, 0}", "0, 0}"),  # a weaker smoother
    ("ssor", "back ? last - r : first + r", "first + r"),  # on the way back rows are in order
    ("ssor", "+ (u[s - c->row] + u[s + c->row])", "+ 2 * u[s - c->row]"),  # another equation
]


@pytest.mark.parametrize(
    ("name", "right", "wrong"), BROKEN, ids=[f"{n} {right}" for n, right, _ in BROKEN]
)
def test_a_solver_whose_algorithm_is_broken_says_so(
    name: str, right: str, wrong: str, tmp_path: Path
) -> None:
    broken = PlainSuite(Path(shutil.copytree(SOLVERS.folder, tmp_path / "suite")))
    (source,) = broken.folder.glob(f"{name}.*")
    text = source.read_text()
    assert text.count(right) == 1
    source.write_text(text.replace(right, wrong))
    broken.build(name, tmp_path)
    done = broken.run(name, tmp_path, broken.programs[name]["inputs"]["small"].split(), 8)
    assert (done.returncode, done.stdout[:7]) == (1, "wrong: "), done.stdout + done.stderr


def test_no_solver_is_in_another_suite() -> None:
    """Policies are learned from the training suite, and judged by the kernels."""
    for other in OTHERS:
        assert not set(SOLVERS.programs) & set(other.programs)
