"""Captured programs are the machine code that users run: as many instructions, as many accesses.

The yardstick is the same program, built with the same flags and nothing of ours, under QEMU.
scripts/studies/instructions.py prints the whole table.
"""

from pathlib import Path

import pytest
from beside_qemu import beside_qemu, training_suite
from captured_binary import needs_qemu

SUITES = {"-O2": training_suite("-O2"), "as users build it": training_suite()}

pytestmark = needs_qemu


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beside")


@pytest.mark.parametrize("name", sorted(training_suite().programs))
def test_instructions_are_those_of_the_plain_build(name: str, folder: Path) -> None:
    found = beside_qemu(SUITES["-O2"], name, 2, "tiny", folder / "O2")
    assert found.instructions == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("name", ["stencil", "power", "lbm", "pricer", "fft"])
def test_vector_code_is_recorded_as_vector_code(name: str, folder: Path) -> None:
    vector = beside_qemu(SUITES["as users build it"], name, 2, "tiny", folder / "O3")
    assert vector.instructions == pytest.approx(1, abs=0.1)
    assert vector.accesses == pytest.approx(1, abs=0.1)


def test_vectors_make_fewer_instructions_of_the_same_work(folder: Path) -> None:
    scalar = beside_qemu(SUITES["-O2"], "lu", 2, "tiny", folder / "O2")
    vector = beside_qemu(SUITES["as users build it"], "lu", 2, "tiny", folder / "O3")
    assert vector.captured.instructions < 0.6 * scalar.captured.instructions
