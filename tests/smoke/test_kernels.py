"""Every kernel builds with the plain compilers and answers right on its tiny input."""

from __future__ import annotations

from pathlib import Path

import pytest
from plain_programs import THREADS, PlainSuite

ROOT = Path(__file__).resolve().parents[2]
KERNELS = PlainSuite(ROOT / "kernels")
SIZES = ("tiny", "core", "llc", "memory")


@pytest.mark.parametrize("name", KERNELS.programs)
def test_a_kernel_has_every_size_and_a_line_in_the_readme(name: str) -> None:
    program = KERNELS.programs[name]
    assert tuple(program["inputs"]) == SIZES
    assert program["threads"]["allowed"] == f"1-{THREADS[-1]}"
    assert f"| {name} |" in (KERNELS.folder / "README.md").read_text()


@pytest.mark.parametrize("name", KERNELS.programs)
def test_a_kernel_builds_without_warnings_says_ok_and_refuses_no_arguments(
    name: str, tmp_path: Path
) -> None:
    KERNELS.build(name, tmp_path)
    KERNELS.check_answers(name, tmp_path)
    KERNELS.check_refusal(name, tmp_path)


WIDE = [
    ("chase", "100 100"),
    ("chase", "100 1"),
    ("matmul", "101 72 2"),
    ("ring", "3000 3"),
    ("jacobi", "5 7"),
    ("stencil27", "2 9"),
    ("spmv-banded", "3 4"),
    ("radixjoin", "5 3 0 1"),
]
"""Inputs that the sizes do not have: ends of chains, tiles that are cut off, rings that go round,
grids smaller than what they are shared by, and one partition."""


@pytest.mark.parametrize(("name", "words"), WIDE, ids=[f"{n} {w}" for n, w in WIDE])
def test_a_kernel_answers_right_on_inputs_that_do_not_divide(
    name: str, words: str, tmp_path: Path
) -> None:
    KERNELS.build(name, tmp_path)
    for threads in (1, 3, 8):
        done = KERNELS.run(name, tmp_path, words.split(), threads)
        assert (done.returncode, done.stdout[:3]) == (0, "ok "), done.stdout + done.stderr


def test_no_kernel_is_a_training_program() -> None:
    """Policies are learned from those, and judged by these."""
    training = PlainSuite(ROOT / "training")
    assert not set(KERNELS.programs) & set(training.programs)
    for program in KERNELS.programs.values():
        assert "training" not in " ".join(program["build"])
